/** The smallest program that a Solana runtime deploys: it succeeds and does nothing. */
import { pack, u16, u32, u64, utf8 } from "../../src/programs/layout/pack.ts"

/** Instructions: r0 = 0, exit. */
const text = Uint8Array.of(0xb7, 0, 0, 0, 0, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0)
const names = utf8("\0.text\0.shstrtab\0")

const HEADER = 64
const SEGMENT = 56
const textAt = HEADER + SEGMENT
const namesAt = textAt + text.length
const padding = (8 - ((namesAt + names.length) % 8)) % 8
const sectionsAt = namesAt + names.length + padding

interface Section {
  readonly name: number
  readonly type: number
  readonly flags: bigint
  readonly offset: number
  readonly size: number
}

const section = ({ flags, name, offset, size, type }: Section): Uint8Array => {
  const at = u64(BigInt(offset))
  const address = flags === 0n ? u64(0n) : at
  return pack(u32(name), u32(type), u64(flags), address, at, u64(BigInt(size)), u32(0), u32(0), u64(8n), u64(0n))
}

/** An ELF file for the machine "Linux BPF": one segment with the text, and three sections. */
export const tinyProgram: Uint8Array = pack(
  // Magic, 64 bits, little-endian, version 1.
  pack(Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 2, 1, 1), new Uint8Array(9)),
  // A shared object.
  pack(u16(3), u16(247), u32(1), u64(BigInt(textAt)), u64(BigInt(HEADER)), u64(BigInt(sectionsAt)), u32(0)),
  pack(u16(HEADER), u16(SEGMENT), u16(1), u16(64), u16(3), u16(2)),
  // The segment: loaded, readable and executable, at its own offset.
  pack(u32(1), u32(5), ...[textAt, textAt, textAt, text.length, text.length, 8].map((value) => u64(BigInt(value)))),
  text,
  names,
  new Uint8Array(padding),
  new Uint8Array(64),
  section({ name: 1, type: 1, flags: 6n, offset: textAt, size: text.length }),
  section({ name: 7, type: 3, flags: 0n, offset: namesAt, size: names.length })
)
