// Prints DirectML's structures, as a running program has them, as the JSON that `specgate check` reads.
//
// Written by `specgate export csharp` from specgate's table of the structures: do not edit, export it again.
// One file, no packages, C# 5 and later; .NET Framework, .NET, Mono; 64-bit processes.
//
//     string json = SpecgateDml.ToJson(pointerToOperatorDesc);     // before CreateOperator, or when it failed
//     string json = SpecgateDml.ToJson(operatorType, pointerToItsStructure);
//     SpecgateDml.Remember(operatorInterface, pointerToOperatorDesc);   // after CreateOperator: for graphs
//     string model = SpecgateDml.GraphToJson(pointerToGraphDesc);  // before CompileGraph
//
// Nothing that is in memory makes it crash or go on for ever: memory is copied by the system, as for a debugger.
// What cannot be read, or cannot be meant, stands in the JSON as a text that begins with "unreadable".

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;

public static class SpecgateDml
{
    // What an array or a tensor has at most: more is taken for memory that holds something else.
    const uint MaxElements = @MAX_ELEMENTS@;
    const uint MaxDimensions = @MAX_DIMENSIONS@;
    const int MaxNesting = @MAX_NESTING@;
    const long MaxBytes = @MAX_BYTES@;
    const int MaxName = @MAX_NAME@;

    // NUMBER NAME MEMBER:KIND:OFFSET[:OF[:COUNT]], where OF is the enum, or the member that types a scalar, and COUNT
    // the member that counts an array.
    static readonly string[] Operators =
    {
@OPERATORS@
    };

    static readonly string[] GraphStructures =
    {
@GRAPH@
    };

    // NAME WORD=NUMBER
    static readonly string[] EnumWords =
    {
@ENUMS@
    };

    sealed class Member
    {
        public string Name, Kind, Of, Count;
        public int Offset;
    }

    sealed class Structure
    {
        public string Name;
        public List<Member> Members = new List<Member>();

        public Member Find(string name)
        {
            return Members.Find(delegate(Member member) { return member.Name == name; });
        }
    }

    sealed class Unreadable : Exception
    {
        public Unreadable(string message) : base(message) { }
    }

    static readonly Dictionary<uint, Structure> ByNumber = new Dictionary<uint, Structure>();
    static readonly Dictionary<string, Structure> ByName = new Dictionary<string, Structure>();
    static readonly Dictionary<string, Dictionary<uint, string>> Words =
        new Dictionary<string, Dictionary<uint, string>>();
    static readonly Dictionary<IntPtr, string> Remembered = new Dictionary<IntPtr, string>();

    static SpecgateDml()
    {
        foreach (string line in Operators)
        {
            string number = line.Substring(0, line.IndexOf(' '));
            ByNumber[uint.Parse(number, CultureInfo.InvariantCulture)] = Parsed(line.Substring(number.Length + 1));
        }
        foreach (string line in GraphStructures)
        {
            Structure structure = Parsed(line);
            ByName[structure.Name] = structure;
        }
        foreach (string line in EnumWords)
        {
            string[] parts = line.Split(' ');
            Dictionary<uint, string> words = Words[parts[0]] = new Dictionary<uint, string>();
            for (int i = 1; i < parts.Length; i++)
            {
                string[] pair = parts[i].Split('=');
                words[uint.Parse(pair[1], CultureInfo.InvariantCulture)] = pair[0];
            }
        }
    }

    static Structure Parsed(string line)
    {
        string[] parts = line.Split(' ');
        Structure structure = new Structure();
        structure.Name = parts[0];
        for (int i = 1; i < parts.Length; i++)
        {
            string[] member = parts[i].Split(':');
            Member made = new Member();
            made.Name = member[0];
            made.Kind = member[1];
            made.Offset = int.Parse(member[2], CultureInfo.InvariantCulture);
            made.Of = member.Length > 3 ? member[3] : "";
            made.Count = member.Length > 4 ? member[4] : "";
            structure.Members.Add(made);
        }
        return structure;
    }

    /// <summary>Return the DML_OPERATOR_DESC at an address as JSON.</summary>
    public static string ToJson(IntPtr operatorDesc)
    {
        try
        {
            return new Reader().Operator(operatorDesc.ToInt64(), 0);
        }
        catch (Unreadable error)
        {
            return "{\"type\": " + Text("unreadable: " + error.Message) + ", \"desc\": {}}";
        }
    }

    /// <summary>Return an operator as JSON whose number and structure are apart, as wrappers have them.</summary>
    public static string ToJson(uint operatorType, IntPtr structure)
    {
        return new Reader().Described(operatorType, structure.ToInt64(), 0);
    }

    /// <summary>Keep what an operator was created of, for graphs that have it: its interface does not show it.</summary>
    public static void Remember(IntPtr dmlOperator, IntPtr operatorDesc)
    {
        string json = ToJson(operatorDesc);
        lock (Remembered)
        {
            Remembered[dmlOperator] = json;
        }
    }

    /// <summary>Forget an operator that was released.</summary>
    public static void Forget(IntPtr dmlOperator)
    {
        lock (Remembered)
        {
            Remembered.Remove(dmlOperator);
        }
    }

    /// <summary>Return the DML_GRAPH_DESC at an address as a DxDispatch model; its operators are those that were
    /// remembered, the others are listed and not judged.</summary>
    public static string GraphToJson(IntPtr graphDesc)
    {
        try
        {
            lock (Remembered)
            {
                return new Reader().Graph(graphDesc.ToInt64());
            }
        }
        catch (Unreadable error)
        {
            return "{\"dispatchables\": {\"graph\": {\"type\": \"DML_GRAPH_DESC\", \"desc\": "
                + Text("unreadable: " + error.Message) + "}}}";
        }
    }

    // Structures are read here; one object bounds all that one description reads.
    sealed class Reader
    {
        long left = MaxBytes;
        readonly byte[] eight = new byte[8];

        byte[] Read(long at, long size)
        {
            left -= size;
            if (left < 0)
            {
                throw new Unreadable("more than " + MaxBytes + " bytes");
            }
            byte[] found = size <= 8 ? eight : new byte[size];
            if (at == 0)
            {
                throw new Unreadable("a null pointer");
            }
            if (size > 0 && (at < 0 || at > long.MaxValue - size || !Memory.Copy(at, found, (int)size)))
            {
                throw new Unreadable("0x" + at.ToString("x", CultureInfo.InvariantCulture));
            }
            return found;
        }

        uint UInt(long at)
        {
            return BitConverter.ToUInt32(Read(at, 4), 0);
        }

        long Pointer(long at)
        {
            return BitConverter.ToInt64(Read(at, 8), 0);
        }

        public string Operator(long at, int depth)
        {
            if (depth > MaxNesting)
            {
                throw new Unreadable("more than " + MaxNesting + " nested operators");
            }
            return Described(UInt(at), Pointer(at + 8), depth);
        }

        public string Described(uint number, long start, int depth)
        {
            Structure structure;
            if (!ByNumber.TryGetValue(number, out structure))
            {
                return "{\"type\": " + Number(number) + ", \"desc\": {}}";
            }
            List<string> fields = new List<string>();
            for (int i = 0; start != 0 && i < structure.Members.Count; i++)
            {
                string value;
                try
                {
                    value = Value(structure.Members[i], structure, start, depth);
                }
                catch (Unreadable error)
                {
                    value = Text("unreadable: " + error.Message);
                }
                if (value != null)
                {
                    fields.Add(Text(structure.Members[i].Name) + ": " + value);
                }
            }
            return "{\"type\": " + Text("DML_OPERATOR_" + structure.Name) + ", \"desc\": {"
                + string.Join(", ", fields.ToArray()) + "}}";
        }

        string Value(Member member, Structure structure, long start, int depth)
        {
            long at = start + member.Offset;
            bool array = member.Count.Length > 0;
            if (member.Kind == "scalar")
            {
                return Scalar(at, Word("TENSOR_DATA_TYPE", UInt(start + structure.Find(member.Of).Offset)));
            }
            if (member.Kind == "size-2d")
            {
                return "{\"Width\": " + Number(UInt(at)) + ", \"Height\": " + Number(UInt(at + 4)) + "}";
            }
            bool pointed = member.Kind == "input" || member.Kind == "output" || member.Kind == "operator"
                || member.Kind == "scale-bias";
            if (!array && !pointed)
            {
                return Single(member, at);
            }
            long to = Pointer(at);
            if (to == 0)
            {
                return null;
            }
            if (!array)
            {
                return member.Kind == "operator" ? Operator(to, depth + 1)
                    : member.Kind == "scale-bias" ? "{\"Scale\": " + Float(to) + ", \"Bias\": " + Float(to + 4) + "}"
                    : Tensor(to);
            }
            uint count = Counted(structure, member, start);
            string[] items = new string[count];
            for (uint i = 0; i < count; i++)
            {
                items[i] = member.Kind == "operator" ? Operator(to + 16 * i, depth + 1)
                    : pointed ? Tensor(to + 16 * i) ?? "null" : Single(member, to + 4 * i);
            }
            return "[" + string.Join(", ", items) + "]";
        }

        uint Counted(Structure structure, Member member, long start)
        {
            uint count = UInt(start + structure.Find(member.Count).Offset);
            if (count > MaxElements)
            {
                throw new Unreadable(Number(count) + " in " + member.Count);
            }
            return count;
        }

        string Single(Member member, long at)
        {
            uint number = UInt(at);
            switch (member.Kind)
            {
                case "float": return Float(at);
                case "int": return Number(unchecked((int)number));
                case "bool": return number == 0 ? "false" : number == 1 ? "true" : Number(number);
                case "enum":
                    string word = Word(member.Of, number);
                    return word == null ? Number(number) : Text(word);
                default: return Number(number);
            }
        }

        // null where a program points to an empty description for a tensor that is left out.
        string Tensor(long at)
        {
            uint type = UInt(at);
            long start = Pointer(at + 8);
            if (start == 0)
            {
                return null;
            }
            uint kind = UInt(start), flags = UInt(start + 4), rank = UInt(start + 8);
            if (rank > MaxDimensions)
            {
                throw new Unreadable(Number(rank) + " in DimensionCount");
            }
            long sizes = Pointer(start + 16), strides = Pointer(start + 24);
            ulong total = BitConverter.ToUInt64(Read(start + 32, 8), 0);
            uint alignment = UInt(start + 40);
            StringBuilder made = new StringBuilder("{");
            if (type != 1)
            {
                made.Append("\"Type\": ").Append(Worded("TENSOR_TYPE", type)).Append(", ");
            }
            made.Append("\"DataType\": ").Append(Worded("TENSOR_DATA_TYPE", kind));
            made.Append(", \"Sizes\": ").Append(sizes == 0 ? "[]" : Numbers(sizes, rank));
            if (strides != 0)
            {
                made.Append(", \"Strides\": ").Append(Numbers(strides, rank));
            }
            made.Append(", \"TotalTensorSizeInBytes\": ").Append(Number(total));
            if (alignment != 0)
            {
                made.Append(", \"GuaranteedBaseOffsetAlignment\": ").Append(Number(alignment));
            }
            if (flags != 0)
            {
                made.Append(", \"Flags\": ").Append(Number(flags));
            }
            return made.Append("}").ToString();
        }

        string Numbers(long at, uint count)
        {
            string[] items = new string[count];
            for (uint i = 0; i < count; i++)
            {
                items[i] = Number(UInt(at + 4 * i));
            }
            return "[" + string.Join(", ", items) + "]";
        }

        string Float(long at)
        {
            return Real(BitConverter.ToSingle(Read(at, 4), 0));
        }

        string Scalar(long at, string kind)
        {
            byte[] bytes = Read(at, 8);
            switch (kind)
            {
                case "FLOAT32": return Real(BitConverter.ToSingle(bytes, 0));
                case "FLOAT64": return Real(BitConverter.ToDouble(bytes, 0));
                case "FLOAT16": return Real(Half(BitConverter.ToUInt16(bytes, 0)));
                case "UINT32": return Number(BitConverter.ToUInt32(bytes, 0));
                case "UINT16": return Number(BitConverter.ToUInt16(bytes, 0));
                case "UINT8": case "UINT4": return Number(bytes[0]);
                case "INT32": return Number(BitConverter.ToInt32(bytes, 0));
                case "INT16": return Number(BitConverter.ToInt16(bytes, 0));
                case "INT8": case "INT4": return Number(unchecked((sbyte)bytes[0]));
                case "INT64": return Number(BitConverter.ToInt64(bytes, 0));
                default: return Number(BitConverter.ToUInt64(bytes, 0));
            }
        }

        public string Graph(long at)
        {
            Structure structure = ByName["GRAPH_DESC"];
            StringBuilder operators = new StringBuilder(), desc = new StringBuilder();
            UInt(at);  // an address that cannot be read is no graph at all
            foreach (Member member in structure.Members)
            {
                string value;
                try
                {
                    value = member.Count.Length == 0 ? Number(UInt(at + member.Offset))
                        : Parts(structure, member, at, operators);
                }
                catch (Unreadable error)
                {
                    value = Text("unreadable: " + error.Message);
                }
                desc.Append(desc.Length > 0 ? ", " : "").Append(Text(member.Name)).Append(": ").Append(value);
            }
            return "{\"dispatchables\": {" + operators + "\"graph\": {\"type\": \"DML_GRAPH_DESC\", \"desc\": {" + desc
                + "}}}}";
        }

        string Parts(Structure structure, Member member, long start, StringBuilder operators)
        {
            long to = Pointer(start + member.Offset);
            uint count = to == 0 ? 0 : Counted(structure, member, start);
            string[] items = new string[count];
            for (uint i = 0; i < count; i++)
            {
                try
                {
                    items[i] = member.Kind == "node" ? Node(to + 16 * i, i, operators)
                        : Edge(to + 16 * i, member.Name.Substring(0, member.Name.Length - 5).ToUpperInvariant());
                }
                catch (Unreadable error)
                {
                    items[i] = Text("unreadable: " + error.Message);
                }
            }
            return "[" + string.Join(", ", items) + "]";
        }

        string Node(long at, uint index, StringBuilder operators)
        {
            uint type = UInt(at);
            string word = Word("GRAPH_NODE_TYPE", type);
            string shown = "\"type\": " + (word == null ? Number(type) : Text("DML_GRAPH_NODE_TYPE_" + word));
            long start = Pointer(at + 8);
            if (start == 0 || (word != "OPERATOR" && word != "CONSTANT"))
            {
                return "{" + shown + "}";
            }
            Structure structure = ByName[word == "OPERATOR" ? "OPERATOR_GRAPH_NODE_DESC" : "CONSTANT_DATA_GRAPH_NODE_DESC"];
            string json;
            if (word == "OPERATOR" && Remembered.TryGetValue(new IntPtr(Pointer(start)), out json))
            {
                string name = Text("node_" + Number(index));
                operators.Append(name).Append(": ").Append(json).Append(", ");
                shown += ", \"Operator\": " + name;
            }
            return "{" + shown + Members(structure, start) + "}";
        }

        string Edge(long at, string wanted)
        {
            uint type = UInt(at);
            string word = Word("GRAPH_EDGE_TYPE", type);
            long start = Pointer(at + 8);
            if (start == 0 || word != wanted)
            {
                return "{\"type\": " + (word == null ? Number(type) : Text("DML_GRAPH_EDGE_TYPE_" + word)) + "}";
            }
            string members = Members(ByName[word + "_GRAPH_EDGE_DESC"], start);
            return "{" + members.Substring(2) + "}";
        }

        string Members(Structure structure, long start)
        {
            StringBuilder made = new StringBuilder();
            foreach (Member member in structure.Members)
            {
                long at = start + member.Offset;
                string value = member.Kind == "uint" ? Number(UInt(at))
                    : member.Kind == "size" ? Number(BitConverter.ToUInt64(Read(at, 8), 0))
                    : member.Kind == "text" && Pointer(at) != 0 ? Text(ReadText(Pointer(at))) : null;
                if (value != null)
                {
                    made.Append(", ").Append(Text(member.Name)).Append(": ").Append(value);
                }
            }
            return made.ToString();
        }

        // In parts of 64 bytes that no page's end cuts: the next page need not be there.
        string ReadText(long at)
        {
            List<byte> found = new List<byte>();
            while (found.Count < MaxName)
            {
                long part = at + found.Count;
                byte[] bytes = Read(part, 64 - (part & 63));
                for (int i = 0; i < 64 - (int)(part & 63); i++)
                {
                    if (bytes[i] == 0 || found.Count == MaxName)
                    {
                        return Encoding.UTF8.GetString(found.ToArray());
                    }
                    found.Add(bytes[i]);
                }
            }
            return Encoding.UTF8.GetString(found.ToArray());
        }
    }

    static string Word(string name, uint number)
    {
        string word;
        return Words[name].TryGetValue(number, out word) ? word : null;
    }

    static string Worded(string name, uint number)
    {
        string word = Word(name, number);
        return word == null ? Number(number) : Text(word);
    }

    static string Number(IFormattable number)
    {
        return number.ToString(null, CultureInfo.InvariantCulture);
    }

    // JSON has no infinity and no NaN: they are words.
    static string Real(double number)
    {
        if (double.IsNaN(number) || double.IsInfinity(number))
        {
            return double.IsNaN(number) ? "\"nan\"" : number > 0 ? "\"inf\"" : "\"-inf\"";
        }
        string text = number.ToString("R", CultureInfo.InvariantCulture);
        return text.IndexOfAny(new[] { '.', 'E' }) < 0 ? text + ".0" : text;
    }

    static double Half(ushort bits)
    {
        int exponent = (bits >> 10) & 31, fraction = bits & 1023;
        double sign = bits >= 0x8000 ? -1 : 1;
        if (exponent == 31)
        {
            return fraction != 0 ? double.NaN : sign * double.PositiveInfinity;
        }
        return exponent == 0 ? sign * fraction * Math.Pow(2, -24) : sign * (1024 + fraction) * Math.Pow(2, exponent - 25);
    }

    static string Text(string value)
    {
        StringBuilder made = new StringBuilder("\"");
        foreach (char each in value)
        {
            if (each == '"' || each == '\\')
            {
                made.Append('\\').Append(each);
            }
            else if (each < ' ' || each > '~')
            {
                made.Append("\\u").Append(((int)each).ToString("x4", CultureInfo.InvariantCulture));
            }
            else
            {
                made.Append(each);
            }
        }
        return made.Append('"').ToString();
    }

    // Copies memory by way of the system, which refuses an address that nothing is mapped at.
    static class Memory
    {
        static readonly bool Windows = Path.DirectorySeparatorChar == '\\';

        [DllImport("kernel32.dll", SetLastError = true)]
        static extern bool ReadProcessMemory(IntPtr process, IntPtr at, byte[] to, UIntPtr size, out UIntPtr copied);

        [DllImport("kernel32.dll")]
        static extern IntPtr GetCurrentProcess();

        public static bool Copy(long at, byte[] to, int size)
        {
            if (Windows)
            {
                UIntPtr copied;
                return ReadProcessMemory(GetCurrentProcess(), new IntPtr(at), to, new UIntPtr((uint)size), out copied)
                    && copied.ToUInt64() == (ulong)size;
            }
            try
            {
                using (FileStream memory = new FileStream("/proc/self/mem", FileMode.Open, FileAccess.Read,
                    FileShare.ReadWrite, 1))
                {
                    memory.Seek(at, SeekOrigin.Begin);
                    int found = 0, more;
                    while (found < size && (more = memory.Read(to, found, size - found)) > 0)
                    {
                        found += more;
                    }
                    return found == size;
                }
            }
            catch (IOException)
            {
                return false;
            }
            catch (UnauthorizedAccessException)
            {
                return false;
            }
        }
    }
}
