import { Context } from "effect"

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Returns `size` random bytes that are good enough for secrets. */
export type RandomBytes = (size: number) => Uint8Array

/** Random bytes from the operating system, because Effect's `Random` can be predicted. Tests replace it. */
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

/** Returns `length` random base62 characters, all equally likely (5.95 bits each). */
export const randomBase62 = (length: number, random: RandomBytes): string => {
  let text = ""
  while (text.length < length) {
    for (const byte of random(length - text.length)) {
      // 248 is the largest multiple of 62 that fits a byte. Higher values would favour the first characters.
      text += byte < 248 ? ALPHABET.charAt(byte % ALPHABET.length) : ""
    }
  }
  return text
}
