using System;
using System.IO;
using System.Runtime.InteropServices;

// Loads images of structures from a file and prints each as JSON, one a line.
public static class Reads
{
    public static int Main(string[] arguments)
    {
        using (BinaryReader input = new BinaryReader(File.OpenRead(arguments[0])))
        {
            while (input.BaseStream.Position < input.BaseStream.Length)
            {
                char kind = (char)input.ReadByte();
                long number = input.ReadInt64();
                int size = input.ReadInt32(), count = input.ReadInt32();
                IntPtr start = Marshal.AllocHGlobal(size + 8);
                Marshal.Copy(input.ReadBytes(size), 0, start, size);
                for (int i = 0; i < count; i++)
                {
                    int at = input.ReadInt32();
                    Marshal.WriteInt64(start, at, start.ToInt64() + Marshal.ReadInt64(start, at));
                }
                string line = "{}";
                switch (kind)
                {
                    case 'r': SpecgateDml.Remember(new IntPtr(number), start); break;
                    case 'f': SpecgateDml.Forget(new IntPtr(number)); break;
                    case 'g': line = SpecgateDml.GraphToJson(start); break;
                    case 't':
                        line = SpecgateDml.ToJson((uint)Marshal.ReadInt32(start), Marshal.ReadIntPtr(start, 8));
                        break;
                    case 'a': line = SpecgateDml.ToJson(new IntPtr(number)); break;
                    case 'b': line = SpecgateDml.GraphToJson(new IntPtr(number)); break;
                    default: line = SpecgateDml.ToJson(start); break;
                }
                Console.WriteLine(line);
            }
        }
        return 0;
    }
}
