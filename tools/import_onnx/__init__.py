"""Write tables from what a vendor's package states of its operators, beside what people wrote by hand."""
