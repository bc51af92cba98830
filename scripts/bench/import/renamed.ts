/**
 * Blocks that repeat, made to be of other wallets, tokens and pools in each round, so that a store does not get the same rows
 * again and again. Digits of addresses and signatures are changed in place among the texts of packed transactions. Money
 * keeps its address, and so prices stay.
 */
import type { ImportedBlock } from "../../../src/chain/importing/importMessages.ts"
import { HEAD_BYTES, ROW_BYTES, TEXT_BYTES } from "../../../src/chain/decoding/rowWriter.ts"
import { DOLLARS } from "../../../src/domain/stables.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { FIRST_SLOT, VARIETIES } from "./blockFile.ts"

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
const CODES = Uint8Array.from(ALPHABET, (letter) => letter.charCodeAt(0))
const DIGITS = new Uint8Array(128)
CODES.forEach((code, digit) => (DIGITS[code] = digit))

/** Place of the digits that change: neither end, so that the bytes keep their number. */
const CHANGED_AT = 20
const isSignature = (text: string): boolean => text.length >= 86 && text.length <= 88
const isAddress = (text: string): boolean => text.length >= 43 && text.length <= 44
const kept = new Set<string>([SOL, ...DOLLARS])

/** Offsets of texts in the bytes of packed transactions. */
interface Places {
  readonly addresses: ReadonlyArray<number>
  readonly signatures: ReadonlyArray<number>
}

const placesIn = (packed: Uint8Array<ArrayBuffer>): Places => {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.length)
  const [rows, texts] = [bytes.readUInt32LE(0), bytes.readUInt32LE(4)]
  const ends = HEAD_BYTES + rows * ROW_BYTES
  const first = ends + texts * TEXT_BYTES
  const places = { addresses: new Array<number>(), signatures: new Array<number>() }
  let from = first
  for (let n = 0; n < texts; n++) {
    const to = first + bytes.readUInt32LE(ends + n * TEXT_BYTES)
    const text = bytes.toString("latin1", from, to)
    if (isSignature(text)) {
      places.signatures.push(from)
    } else if (isAddress(text) && !kept.has(text)) {
      places.addresses.push(from)
    }
    from = to
  }
  return places
}

/** Adds the number to the digits at a place. */
const add = (packed: Uint8Array, place: number, number: number): void => {
  let rest = number
  for (let at = place + CHANGED_AT; rest > 0; at++) {
    packed[at] = CODES[((DIGITS[packed[at] ?? 0] ?? 0) + rest) % 58] ?? 0
    rest = Math.floor(rest / 58)
  }
}

/** Renames blocks. Signatures differ in each round; wallets, tokens and pools come again after so many. */
export const makeRenaming = (variants: number) => {
  const known: Array<Places> = []
  return (imported: ImportedBlock): ImportedBlock => {
    const { head, packed } = imported.block
    const n = head.slot - FIRST_SLOT
    const round = Math.floor(n / VARIETIES)
    const { addresses, signatures } = (known[n % VARIETIES] ??= placesIn(packed))
    for (const place of addresses) {
      add(packed, place, round % variants)
    }
    for (const place of signatures) {
      add(packed, place, round)
    }
    return imported
  }
}
