/** Assembles small programs for the Solana runtime: instructions, and an ELF file around them. */
import { pack, u16, u32, u64, u8, utf8 } from "../../src/programs/layout/pack.ts"

/** A register, 0 to 10. Register 10 points to the end of the stack frame. */
type Register = number

const i16 = (value: number): Uint8Array => u16(value & 0xffff)
const instruction = (code: number, to: Register, from: Register, offset: number, value: number): Uint8Array =>
  pack(u8(code), u8(to | (from << 4)), i16(offset), u32(value >>> 0))

/** Functions of the runtime that a program may call. */
export type Syscall = "sol_invoke_signed_c" | "sol_panic_"

/** One instruction or more, as bytes. A call of the runtime is a name, because the loader fills it in. */
export type Code = Uint8Array | { readonly call: Syscall }

const CALL = instruction(0x85, 0, 0, 0, -1)

export const loadValue = (to: Register, value: bigint): Uint8Array =>
  pack(
    instruction(0x18, to, 0, 0, Number(value & 0xffff_ffffn)),
    instruction(0, 0, 0, 0, Number((value >> 32n) & 0xffff_ffffn))
  )
/** Eight bytes from memory. */
export const load = (to: Register, from: Register, offset = 0): Uint8Array => instruction(0x79, to, from, offset, 0)
export const loadByte = (to: Register, from: Register, offset = 0): Uint8Array => instruction(0x71, to, from, offset, 0)
export const store = (to: Register, offset: number, from: Register): Uint8Array =>
  instruction(0x7b, to, from, offset, 0)
export const storeByte = (to: Register, offset: number, from: Register): Uint8Array =>
  instruction(0x73, to, from, offset, 0)
export const move = (to: Register, from: Register): Uint8Array => instruction(0xbf, to, from, 0, 0)
export const add = (to: Register, from: Register): Uint8Array => instruction(0x0f, to, from, 0, 0)
export const addValue = (to: Register, value: number): Uint8Array => instruction(0x07, to, 0, 0, value)
export const subtract = (to: Register, from: Register): Uint8Array => instruction(0x1f, to, from, 0, 0)
export const multiply = (to: Register, from: Register): Uint8Array => instruction(0x2f, to, from, 0, 0)
export const multiplyValue = (to: Register, value: number): Uint8Array => instruction(0x27, to, 0, 0, value)
export const divide = (to: Register, from: Register): Uint8Array => instruction(0x3f, to, from, 0, 0)
export const divideValue = (to: Register, value: number): Uint8Array => instruction(0x37, to, 0, 0, value)
export const andValue = (to: Register, value: number): Uint8Array => instruction(0x57, to, 0, 0, value)
/** Skips the next instructions when the register holds this value. */
export const skipWhen = (register: Register, value: number, instructions: number): Uint8Array =>
  instruction(0x15, register, 0, instructions, value)
/** Jumps by this many instructions, counted from the next one. */
export const jump = (instructions: number): Uint8Array => instruction(0x05, 0, 0, instructions, 0)
export const call = (name: Syscall): Code => ({ call: name })
export const exit: Uint8Array = instruction(0x95, 0, 0, 0, 0)

const HEADER = 64
const SEGMENT = 56
const SEGMENTS = 3

interface Section {
  readonly name: string
  readonly type: number
  readonly flags: bigint
  readonly bytes: Uint8Array
  readonly link?: number
  readonly entry?: number
}

const align = (at: number): number => (at + 7) & ~7

/** Names of the sections, in the order of the file. The numbers that refer to them are below. */
const DYNSTR = 3

const segment = (type: number, flags: number, offset: number, size: number): Uint8Array =>
  pack(u32(type), u32(flags), ...[offset, offset, offset, size, size, 8].map((value) => u64(BigInt(value))))

/** An entry of the dynamic section. */
const entry = (tag: number, value: number): Uint8Array => pack(u64(BigInt(tag)), u64(BigInt(value)))

/** An ELF file with this text. Calls of the runtime become relocations, which the loader resolves by name. */
export const program = (code: ReadonlyArray<Code>): Uint8Array => {
  const textAt = HEADER + SEGMENTS * SEGMENT
  const calls: Array<{ readonly at: number; readonly name: Syscall }> = []
  let at = textAt
  const text = pack(
    ...code.map((one) => {
      const bytes = "call" in one ? CALL : one
      if ("call" in one) {
        calls.push({ at, name: one.call })
      }
      at += bytes.length
      return bytes
    })
  )
  const called = [...new Set(calls.map(({ name }) => name))]
  const names = utf8(`\0${called.map((name) => `${name}\0`).join("")}`)
  const nameAt = (name: string): number =>
    1 +
    `${called
      .slice(0, called.indexOf(name as Syscall))
      .map((one) => `${one}\0`)
      .join("")}`.length
  const symbols = pack(
    new Uint8Array(24),
    // A global function that is defined elsewhere.
    ...called.map((name) => pack(u32(nameAt(name)), u8(0x10), u8(0), u16(0), u64(0n), u64(0n)))
  )
  const relocations = pack(
    ...calls.map(({ at: offset, name }) =>
      pack(u64(BigInt(offset)), u64((BigInt(1 + called.indexOf(name)) << 32n) | 10n))
    )
  )
  const symbolsAt = align(textAt + text.length)
  const namesAt = align(symbolsAt + symbols.length)
  const relocationsAt = align(namesAt + names.length)
  const dynamicAt = align(relocationsAt + relocations.length)
  const dynamic = pack(
    entry(17, relocationsAt),
    entry(18, relocations.length),
    entry(19, 16),
    entry(6, symbolsAt),
    entry(11, 24),
    entry(5, namesAt),
    entry(10, names.length),
    entry(0, 0)
  )
  const sectionNames = ["", ".text", ".dynsym", ".dynstr", ".rel.dyn", ".dynamic", ".shstrtab"]
  const sectionText = utf8(sectionNames.map((name) => `${name}\0`).join(""))
  const sectionTextAt = align(dynamicAt + dynamic.length)
  const sectionsAt = align(sectionTextAt + sectionText.length)
  const sections: ReadonlyArray<Section & { readonly at: number }> = [
    { name: ".text", type: 1, flags: 6n, bytes: text, at: textAt },
    { name: ".dynsym", type: 11, flags: 2n, bytes: symbols, at: symbolsAt, link: DYNSTR, entry: 24 },
    { name: ".dynstr", type: 3, flags: 2n, bytes: names, at: namesAt },
    { name: ".rel.dyn", type: 9, flags: 2n, bytes: relocations, at: relocationsAt, link: 2, entry: 16 },
    { name: ".dynamic", type: 6, flags: 3n, bytes: dynamic, at: dynamicAt, link: DYNSTR, entry: 16 },
    { name: ".shstrtab", type: 3, flags: 0n, bytes: sectionText, at: sectionTextAt }
  ]
  const offsetOfName = (name: string): number =>
    sectionNames.slice(0, sectionNames.indexOf(name)).reduce((sum, one) => sum + one.length + 1, 0)
  const sectionHeader = ({
    at: offset,
    bytes,
    entry: size = 0,
    flags,
    link = 0,
    name,
    type
  }: (typeof sections)[number]) =>
    pack(
      u32(offsetOfName(name)),
      u32(type),
      u64(flags),
      u64(flags === 0n ? 0n : BigInt(offset)),
      u64(BigInt(offset)),
      u64(BigInt(bytes.length)),
      u32(link),
      u32(0),
      u64(8n),
      u64(BigInt(size))
    )
  const header = pack(
    // Magic, 64 bits, little-endian, version 1.
    pack(Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 2, 1, 1), new Uint8Array(9)),
    // A shared object for the machine "Linux BPF".
    pack(u16(3), u16(247), u32(1), u64(BigInt(textAt)), u64(BigInt(HEADER)), u64(BigInt(sectionsAt)), u32(0)),
    pack(u16(HEADER), u16(SEGMENT), u16(SEGMENTS), u16(64), u16(7), u16(6)),
    segment(1, 5, textAt, text.length),
    segment(1, 4, symbolsAt, dynamicAt + dynamic.length - symbolsAt),
    segment(2, 4, dynamicAt, dynamic.length)
  )
  const file = new Uint8Array(sectionsAt + 64 * 7)
  file.set(header)
  for (const { at: offset, bytes } of sections) {
    file.set(bytes, offset)
  }
  sections.forEach((one, index) => file.set(sectionHeader(one), sectionsAt + 64 * (index + 1)))
  return file
}
