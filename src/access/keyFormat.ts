/** The text of a key: an environment prefix, 30 random base62 characters, and their CRC-32 in 6 more. */
import { Context, Redacted } from "effect"
import { createHmac, randomBytes } from "node:crypto"
import { crc32 } from "node:zlib"

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const RANDOM_LENGTH = 30
const CHECKSUM_LENGTH = 6
const SHAPE = /^svc_(?:live|test)_[0-9A-Za-z]{36}$/u

/** Where a key belongs: to the real service, or to a sandbox. */
export type KeyEnvironment = "live" | "test"

/** A source of that many random bytes, fit for secrets. */
export type RandomBytes = (size: number) => Uint8Array

/** Where secrets come from: the operating system, because Effect's `Random` can be predicted. Tests put in their own. */
export const SecretSource = Context.Reference<RandomBytes>("fathom/access/SecretSource", {
  defaultValue: () => randomBytes
})

/** The CRC-32 of the text in base62, zero padded to 6 characters. A check against typing errors, not a secret. */
export const checksum = (text: string): string => {
  let digits = ""
  for (let rest = crc32(text); rest > 0; rest = Math.floor(rest / 62)) {
    digits = ALPHABET.charAt(rest % 62) + digits
  }
  return digits.padStart(CHECKSUM_LENGTH, "0")
}

/** That many random base62 characters, each equally likely. */
export const randomBase62 = (length: number, random: RandomBytes): string => {
  let text = ""
  while (text.length < length) {
    for (const byte of random(length - text.length)) {
      // 248 is the largest multiple of 62 that a byte can reach: higher values would favour the first characters.
      text += byte < 248 ? ALPHABET.charAt(byte % 62) : ""
    }
  }
  return text
}

/** A new secret of 178 random bits. */
export const makeSecret = (environment: KeyEnvironment, random: RandomBytes): Redacted.Redacted => {
  const body = `svc_${environment}_${randomBase62(RANDOM_LENGTH, random)}`
  return Redacted.make(body + checksum(body))
}

/** Whether the text has the shape and the checksum of a key: what can be known without asking the store. */
export const isWellFormed = (secret: Redacted.Redacted): boolean => {
  const text = Redacted.value(secret)
  return SHAPE.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
}

/** What may be shown of a secret: its prefix, and its last four characters, which are checksum and give little away. */
export const visibleParts = (secret: Redacted.Redacted): { readonly prefix: string; readonly lastFour: string } => {
  const text = Redacted.value(secret)
  return { prefix: text.slice(0, "svc_live_".length), lastFour: text.slice(-4) }
}

/**
 * HMAC-SHA-256 of the secret under the pepper, in hex. Stores look keys up by it: an index compares digests that an
 * attacker can neither choose nor predict, so the time it takes tells nothing about a secret.
 */
export const hashSecret = (pepper: Redacted.Redacted, secret: Redacted.Redacted): string =>
  createHmac("sha256", Redacted.value(pepper)).update(Redacted.value(secret)).digest("hex")

/** A secret for `hashSecret`, as random as a key. */
export const makePepper = (random: RandomBytes): Redacted.Redacted => Redacted.make(randomBase62(43, random))

/** A name for a key that says nothing about it: `key_` and 95 random bits. */
export const makeId = (random: RandomBytes): string => `key_${randomBase62(16, random)}`
