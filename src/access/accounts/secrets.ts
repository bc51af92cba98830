/** Secrets of links and sessions. */
import { Redacted } from "effect"
import { createHash } from "node:crypto"
import { randomBase62, type RandomBytes } from "../../domain/randomText.ts"

/** 43 base62 characters hold 256 random bits. */
const LENGTH = 43
const SHAPE = /^[0-9A-Za-z]{43}$/u

/** A new secret of 256 random bits. */
export const makeSecret = (random: RandomBytes): Redacted.Redacted => Redacted.make(randomBase62(LENGTH, random))

/** True when the text can be a secret. Any other text needs no look-up. */
export const isWellFormed = (secret: Redacted.Redacted): boolean => SHAPE.test(Redacted.value(secret))

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/** The stored hash. It needs no pepper: nobody can guess 256 bits. */
export const hashOf = (secret: Redacted.Redacted): string => sha256(Redacted.value(secret))

/** Token that proves that a request comes from a page of the session. It does not reveal the session's secret. */
export const csrfTokenOf = (secret: Redacted.Redacted): string => sha256(`csrf ${Redacted.value(secret)}`)

/**
 * State, nonce and PKCE verifier of a sign-in at a provider, derived from its secret. None of them reveals the secret
 * or another of them.
 */
export const signInProofs = (secret: Redacted.Redacted) => ({
  state: sha256(`state ${Redacted.value(secret)}`),
  nonce: sha256(`nonce ${Redacted.value(secret)}`),
  verifier: sha256(`verifier ${Redacted.value(secret)}`)
})
