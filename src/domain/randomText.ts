import { Context } from "effect"

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Returns that many random bytes, fit for secrets. */
export type RandomBytes = (size: number) => Uint8Array

/** Random bytes of the operating system, because Effect's `Random` can be predicted. Tests provide their own. */
export const SecretSource = Context.Reference<RandomBytes>("fathom/domain/SecretSource", {
  defaultValue: () => (size) => crypto.getRandomValues(new Uint8Array(size))
})

/** A non-negative integer in base62, most significant digit first; empty for 0. */
export const base62 = (value: number): string => {
  let digits = ""
  for (let rest = value; rest > 0; rest = Math.floor(rest / ALPHABET.length)) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits
  }
  return digits
}

/** That many random base62 characters, each equally likely (5.95 bits each). */
export const randomBase62 = (length: number, random: RandomBytes): string => {
  let text = ""
  while (text.length < length) {
    for (const byte of random(length - text.length)) {
      // 248 is the largest multiple of 62 that a byte can reach: higher values would favour the first characters.
      text += byte < 248 ? ALPHABET.charAt(byte % ALPHABET.length) : ""
    }
  }
  return text
}
