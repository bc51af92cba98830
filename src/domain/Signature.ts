import { Schema } from "effect"
import { fromBase58 } from "./base58.ts"

const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/u

/** True for base58 text of exactly 64 bytes: the format of every transaction signature. */
export const isSignature = (text: string): boolean => BASE58.test(text) && fromBase58(text)?.length === 64

/** The first signature of a transaction, which identifies it: base58 of 64 bytes. */
export const Signature = Schema.String.check(
  Schema.isPattern(BASE58, { expected: "a transaction signature in base58, 64 to 88 characters" }),
  Schema.makeFilter((text) => isSignature(text) || "must be base58 of 64 bytes", {
    // JSON Schema has no keyword for this check. Without this line the description is lost.
    toJsonSchema: () => ({})
  })
)
  .pipe(Schema.brand("Signature"))
  .annotate({ identifier: "Signature", description: "A transaction signature: base58 of 64 bytes." })
export type Signature = typeof Signature.Type
