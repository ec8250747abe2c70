"""The exported networks: small, with random weights and the parts of real ones."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional

__all__ = ["Branching", "Decoder", "Detector", "Encoder", "Recurrent", "ResNet", "Smoothing", "Vision", "suppress"]


class Residual(nn.Module):
    """Two normalized convolutions with a shortcut, projected if the size changes."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(before, after, 3, stride, 1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(),
            nn.Conv2d(after, after, 3, 1, 1, bias=False),
            nn.BatchNorm2d(after),
        )
        changed = before != after or stride != 1
        self.shortcut = (
            nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))
            if changed
            else nn.Identity()
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.body(x) + self.shortcut(x))


class ResNet(nn.Module):
    """FLOAT [batch, 3, 32, 32] to [batch, classes]."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 7, 2, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        self.stages = nn.Sequential(Residual(8, 8, 1), Residual(8, 16, 2), Residual(16, 32, 2))
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.1), nn.Linear(32, classes))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.head(self.stages(self.stem(image)))


class Vision(nn.Module):
    """Other parts of image networks: encoder, decoder, pooling, resizing, sampling.

    FLOAT [batch, 3, 32, 32] to [batch, 4, 32, 32] and the best class of each pixel.
    """

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(
            nn.ReflectionPad2d(1), nn.Conv2d(3, 8, 3), nn.InstanceNorm2d(8, affine=True), nn.SiLU()
        )
        self.deep = nn.Sequential(
            nn.AvgPool2d(3, 2, 1, count_include_pad=False),
            nn.Conv2d(8, 16, 3, 1, 2, dilation=2, groups=8),
            nn.GroupNorm(4, 16),
            nn.Hardswish(),
        )
        self.shuffle = nn.Sequential(nn.Conv2d(16, 32, 1), nn.PixelShuffle(2), nn.PReLU(8))
        self.up = nn.ConvTranspose2d(16, 8, 4, 2, 1)
        self.squeeze = nn.Sequential(nn.AdaptiveMaxPool2d(1), nn.Conv2d(8, 8, 1), nn.Hardsigmoid())
        self.out = nn.Conv2d(16, 4, 1)

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        wide = self.first(image)
        deep = self.deep(wide)
        raised = self.up(deep) + self.shuffle(deep)
        smaller = functional.interpolate(raised, scale_factor=0.5, mode="bilinear", align_corners=False)
        larger = functional.interpolate(smaller, size=(32, 32), mode="nearest")
        scores = self.out(
            torch.cat([wide * self.squeeze(larger), functional.pad(larger[:, :, 1:-1, 1:-1], (1, 1, 1, 1))], 1)
        )
        return functional.log_softmax(scores, 1), scores.argmax(1)


class Encoder(nn.Module):
    """A BERT-like encoder with a padding mask: INT64 [batch, length] and BOOL likewise, to FLOAT [batch, width]."""

    def __init__(self, tokens: int = 50, width: int = 16, length: int = 12, layers: int = 2) -> None:
        super().__init__()
        self.tokens = nn.Embedding(tokens, width)
        self.places = nn.Embedding(length, width)
        layer = nn.TransformerEncoderLayer(width, 4, 32, 0.0, "gelu", batch_first=True, norm_first=False)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.pool = nn.Linear(width, width)

    def forward(self, ids: torch.Tensor, padding: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
        x = self.layers(x, src_key_padding_mask=padding)
        kept = (~padding).unsqueeze(-1).to(x.dtype)
        mean = (x * kept).sum(1) / kept.sum(1).clamp(min=1.0)
        return torch.tanh(self.pool(mean))


class DecoderLayer(nn.Module):
    """Causal attention over past and present, and a feed-forward part, normalized."""

    def __init__(self, width: int, heads: int, *, fused: bool) -> None:
        super().__init__()
        self.heads = heads
        self.fused = fused
        self.before_attention = nn.LayerNorm(width)
        self.before_feed = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width))

    def forward(
        self, x: torch.Tensor, past_k: torch.Tensor, past_v: torch.Tensor, mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2)
            for part in self.qkv(self.before_attention(x)).split(width, dim=2)
        )
        k, v = torch.cat([past_k, k], 2), torch.cat([past_v, v], 2)
        if self.fused:
            seen = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            scores = (q @ k.transpose(2, 3)) / math.sqrt(q.shape[3])
            seen = functional.softmax(scores.masked_fill(~mask, -1e4), 3) @ v
        x = x + self.project(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.feed(self.before_feed(x)), k, v


class Decoder(nn.Module):
    """A GPT-like decoder with a key/value cache.

    Batch, length and the past's length are dynamic. fused: whether attention is one function of torch, which older
    opsets lack, or its parts. INT64 [batch, length], keys and values FLOAT [layers, batch, heads, past, width / heads];
    to FLOAT logits [batch, length, tokens] and the longer keys and values.
    """

    def __init__(
        self,
        tokens: int = 60,
        width: int = 16,
        heads: int = 4,
        layers: int = 2,
        longest: int = 64,
        *,
        fused: bool = True,
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(tokens, width)
        self.places = nn.Parameter(torch.randn(longest, width))
        self.layers = nn.ModuleList(DecoderLayer(width, heads, fused=fused) for _ in range(layers))
        self.last = nn.LayerNorm(width)

    def forward(
        self, ids: torch.Tensor, past_keys: torch.Tensor, past_values: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        past = past_keys.shape[3]
        places = torch.arange(past, past + ids.shape[1])
        mask = torch.arange(past + ids.shape[1]).unsqueeze(0) <= places.unsqueeze(1)
        x = self.tokens(ids) + self.places[places]
        keys, values = [], []
        for number, layer in enumerate(self.layers):
            x, k, v = layer(x, past_keys[number], past_values[number], mask)
            keys.append(k)
            values.append(v)
        return self.last(x) @ self.tokens.weight.t(), torch.stack(keys), torch.stack(values)


class Recurrent(nn.Module):
    """A bidirectional two-layer LSTM, a GRU and a plain recurrent layer: FLOAT [length, batch, 6] to [batch, 3]."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(6, 8, num_layers=2, bidirectional=True)
        self.gru = nn.GRU(16, 8)
        self.plain = nn.RNN(8, 5, nonlinearity="relu")
        self.out = nn.Linear(5, 3)

    def forward(self, series: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x, (hidden, _) = self.lstm(series)
        x, _ = self.gru(x)
        x, _ = self.plain(x)
        return functional.softmax(self.out(x[-1]), -1), hidden


@torch.library.custom_op("real_models::suppress", mutates_args=())
def suppress(boxes: torch.Tensor, scores: torch.Tensor, most: int, overlap: float, least: float) -> torch.Tensor:
    """NonMaxSuppression: boxes [batch, n, 4], scores [batch, class, n], to INT64 [kept, 3]."""
    rows: list[list[int]] = []
    for batch, classes in enumerate(scores):
        for number, row in enumerate(classes):
            kept: list[int] = []
            for index in row.argsort(descending=True).tolist():
                if row[index] <= least or len(kept) == most:
                    break
                if all(_overlap(boxes[batch, index], boxes[batch, other]) <= overlap for other in kept):
                    kept.append(index)
            rows.extend([batch, number, index] for index in kept)
    return torch.tensor(rows, dtype=torch.int64).reshape(-1, 3)


@suppress.register_fake
def _(boxes: torch.Tensor, scores: torch.Tensor, most: int, overlap: float, least: float) -> torch.Tensor:
    return boxes.new_empty((torch.library.get_ctx().new_dynamic_size(), 3), dtype=torch.int64)


def _overlap(item: torch.Tensor, other: torch.Tensor) -> float:
    """Return the intersection over union of two boxes."""
    common = float((torch.minimum(item[2:], other[2:]) - torch.maximum(item[:2], other[:2])).clamp(min=0).prod())
    return common / float((item[2:] - item[:2]).prod() + (other[2:] - other[:2]).prod() - common)


class Detector(nn.Module):
    """A backbone, a two-level pyramid and heads for detection.

    FLOAT [1, 3, 64, 64] to INT64 [kept, 3], FLOAT [kept, 4], [kept]. Boxes are corners in pixels, decoded from offsets
    to a grid. The selected boxes are rows of batch, class and box, with boxes and scores.
    """

    def __init__(self, classes: int = 3) -> None:
        super().__init__()
        self.classes = classes
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.LeakyReLU(0.1), Residual(8, 16, 2)
        )
        self.deeper = Residual(16, 16, 2)
        self.lateral = nn.Conv2d(16, 16, 1)
        self.boxes = nn.Conv2d(16, 4, 3, padding=1)
        self.scores = nn.Conv2d(16, classes, 3, padding=1)

    def decode(self, features: torch.Tensor, stride: int) -> tuple[torch.Tensor, torch.Tensor]:
        height, width = features.shape[2:]
        rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        centres = (torch.stack([rows, columns], -1).reshape(1, -1, 2).to(torch.float32) + 0.5) * stride
        offsets = self.boxes(features).flatten(2).transpose(1, 2)
        halves = torch.exp(offsets[..., 2:].clamp(-4.0, 4.0)) * stride
        middle = centres + offsets[..., :2] * stride
        boxes = torch.cat([middle - halves, middle + halves], -1)
        return boxes, torch.sigmoid(self.scores(features)).flatten(2)

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        fine = self.backbone(image)
        coarse = self.deeper(fine)
        fine = self.lateral(fine) + functional.interpolate(coarse, scale_factor=2.0, mode="nearest")
        decoded = [self.decode(fine, 4), self.decode(coarse, 8)]
        boxes = torch.cat([item for item, _ in decoded], 1)
        scores = torch.cat([item for _, item in decoded], 2)
        best, which = torch.topk(scores.amax(1), 20, dim=1)
        chosen = which.unsqueeze(-1).expand(-1, -1, 4)
        boxes = boxes.gather(1, chosen)
        scores = scores.gather(2, which.unsqueeze(1).expand(-1, self.classes, -1)) * (best > 0).unsqueeze(1)
        kept = suppress(boxes, scores, 5, 0.5, 0.1)
        return kept, boxes[kept[:, 0], kept[:, 2]], scores[kept[:, 0], kept[:, 1], kept[:, 2]]


class Smoothing(nn.Module):
    """FLOAT [batch, 4] and a number of turns, to all results and the last one.

    Loop, If and sequences when scripted.
    """

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, turns: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        seen = [x]
        for turn in range(int(turns)):
            if turn % 2 == 0:  # noqa: SIM108 - scripting wants the long form
                x = torch.tanh(self.mix(x))
            else:
                x = x + 1.0
            seen.append(x)
        if bool(x.sum() > 0):
            x = x.clamp(max=1.0)
        return torch.stack(seen, 0), x


class Branching(nn.Module):
    """A data-dependent branch as torch.export keeps it, which becomes an If."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.Linear(4, 3)
        self.narrow = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def positive(x: torch.Tensor) -> torch.Tensor:
            return torch.relu(self.wide(x))

        def negative(x: torch.Tensor) -> torch.Tensor:
            return -torch.abs(self.narrow(x)).cumsum(1)

        return torch.cond(x.sum() > 0, positive, negative, (x,))
