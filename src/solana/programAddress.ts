/** Program-derived addresses: SHA-256 of seeds, bump, program and a marker, valid only off the curve. */
import { createHash } from "node:crypto"
import { type Address, addressFromBytes, addressToBytes } from "../domain/Address.ts"

const P = 2n ** 255n - 19n
// The curve's d = -121665/121666, from RFC 8032, section 5.1.
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
const MARKER = new TextEncoder().encode("ProgramDerivedAddress")

const power = (base: bigint, exponent: bigint): bigint => {
  let result = 1n
  for (let square = base % P, rest = exponent; rest > 0n; rest >>= 1n, square = (square * square) % P) {
    if ((rest & 1n) === 1n) {
      result = (result * square) % P
    }
  }
  return result
}

/** True when 32 bytes decompress to a point of ed25519: x² = (y² - 1) / (d·y² + 1) has a root. */
export const isOnCurve = (bytes: Uint8Array): boolean => {
  let y = 0n
  for (let i = 31; i >= 0; i--) {
    y = (y << 8n) | BigInt(i === 31 ? (bytes[i] ?? 0) & 0x7f : (bytes[i] ?? 0))
  }
  const y2 = (y * y) % P
  // A quotient is a square when the product of both is: that saves the inversion.
  const product = ((y2 - 1n + P) * (D * y2 + 1n)) % P
  return product === 0n || power(product, (P - 1n) / 2n) === 1n
}

/** The address with the highest bump that is off the curve, as `find_program_address` gives it. */
export const findProgramAddress = (programId: Address, seeds: ReadonlyArray<Uint8Array>): Address => {
  const program = addressToBytes(programId)
  for (let bump = 255; bump >= 0; bump--) {
    const hash = createHash("sha256")
    for (const seed of seeds) {
      hash.update(seed)
    }
    const digest = hash.update(Uint8Array.of(bump)).update(program).update(MARKER).digest()
    if (!isOnCurve(digest)) {
      return addressFromBytes(digest)
    }
  }
  throw new RangeError("no bump gives an address off the curve")
}

/** `findProgramAddress` that remembers: a derivation costs about a millisecond and never changes. */
export const makeDeriveAddress = (capacity = 100_000) => {
  const known = new Map<string, Address>()
  return (programId: Address, seeds: ReadonlyArray<Uint8Array>): Address => {
    const key = `${programId}:${seeds.map((seed) => Buffer.from(seed).toString("base64")).join(":")}`
    const found = known.get(key)
    if (found !== undefined) {
      return found
    }
    if (known.size >= capacity) {
      known.clear()
    }
    const address = findProgramAddress(programId, seeds)
    known.set(key, address)
    return address
  }
}
