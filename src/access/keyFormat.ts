/** The text of a key: an environment prefix, 30 random base62 characters, and 6 characters of their CRC-32. */
import { Redacted } from "effect"
import { createHmac } from "node:crypto"
import { crc32 } from "node:zlib"
import { base62, randomBase62, type RandomBytes } from "../domain/randomText.ts"

const RANDOM_LENGTH = 30
const CHECKSUM_LENGTH = 6
const SHAPE = /^svc_(?:live|test)_[0-9A-Za-z]{36}$/u

/** The environment in a key's prefix: `live` for the service, `test` for a sandbox. */
export type KeyEnvironment = "live" | "test"

/** The CRC-32 of the text in base62, zero padded to 6 characters. A check against typing errors, not a secret. */
export const checksum = (text: string): string => base62(crc32(text)).padStart(CHECKSUM_LENGTH, "0")

/** A new secret of 178 random bits. */
export const makeSecret = (environment: KeyEnvironment, random: RandomBytes): Redacted.Redacted => {
  const body = `svc_${environment}_${randomBase62(RANDOM_LENGTH, random)}`
  return Redacted.make(body + checksum(body))
}

/** True when the text has the shape and the checksum of a key. Needs no look-up. */
export const isWellFormed = (secret: Redacted.Redacted): boolean => {
  const text = Redacted.value(secret)
  return SHAPE.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
}

/** The parts of a secret that may be shown: its prefix and its last four characters, which belong to the checksum. */
export const visibleParts = (secret: Redacted.Redacted): { readonly prefix: string; readonly lastFour: string } => {
  const text = Redacted.value(secret)
  return { prefix: text.slice(0, "svc_live_".length), lastFour: text.slice(-4) }
}

/**
 * HMAC-SHA-256 of the secret under the pepper, in hex. Stores look keys up by it. An attacker can neither choose nor
 * predict the digests that an index compares, so its timing reveals nothing about a secret.
 */
export const hashSecret = (pepper: Redacted.Redacted, secret: Redacted.Redacted): string =>
  createHmac("sha256", Redacted.value(pepper)).update(Redacted.value(secret)).digest("hex")

/** A secret for `hashSecret`, as random as a key. */
export const makePepper = (random: RandomBytes): Redacted.Redacted => Redacted.make(randomBase62(43, random))

/** A random id of a key: `key_` and 95 random bits. */
export const makeId = (random: RandomBytes): string => `key_${randomBase62(16, random)}`
