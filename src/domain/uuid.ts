import type { Random } from "effect"

const WORD = 2 ** 32

const hexWord = (random: Random.Random): string =>
  Math.floor(random.nextDoubleUnsafe() * WORD)
    .toString(16)
    .padStart(8, "0")

/** A random UUID (version 4) from the given dice. An identifier, never a secret. */
export const uuidV4 = (random: Random.Random): string => {
  const a = hexWord(random)
  const b = hexWord(random)
  const c = hexWord(random)
  const d = hexWord(random)
  const variant = "89ab"[Number.parseInt(c.slice(0, 1), 16) & 3] ?? "8"
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${d}`
}
