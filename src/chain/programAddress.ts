/** Program-derived addresses: the SHA-256 of seeds, bump, program and a marker, valid only off the curve. */
import { createHash } from "node:crypto"
import { type Address, addressFromBytes, addressToBytes } from "../domain/Address.ts"

const P = 2n ** 255n - 19n
// The curve's d = -121665/121666, from RFC 8032, section 5.1.
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
const MARKER = new TextEncoder().encode("ProgramDerivedAddress")

const times = (a: bigint, b: bigint): bigint => (a * b) % P

const squared = (value: bigint, count: number): bigint => {
  let result = value
  for (let i = 0; i < count; i++) {
    result = times(result, result)
  }
  return result
}

/**
 * `z` to the power (P - 1) / 2 = 2^254 - 10, which is 1 for a square. Builds runs of one bits by doubling, which takes
 * 11 products instead of 250.
 */
const legendre = (z: bigint): bigint => {
  const ones2 = times(squared(z, 1), z)
  const ones4 = times(squared(ones2, 2), ones2)
  const ones5 = times(squared(ones4, 1), z)
  const ones10 = times(squared(ones5, 5), ones5)
  const ones20 = times(squared(ones10, 10), ones10)
  const ones40 = times(squared(ones20, 20), ones20)
  const ones80 = times(squared(ones40, 40), ones40)
  const ones160 = times(squared(ones80, 80), ones80)
  const ones240 = times(squared(ones160, 80), ones80)
  const ones250 = times(squared(ones240, 10), ones10)
  return times(squared(ones250, 4), squared(ones2, 1))
}

/** True when 32 bytes decompress to a point of ed25519: x² = (y² - 1) / (d·y² + 1) has a root. */
export const isOnCurve = (bytes: Uint8Array): boolean => {
  let y = 0n
  for (let i = 31; i >= 0; i--) {
    y = (y << 8n) | BigInt(i === 31 ? (bytes[i] ?? 0) & 0x7f : (bytes[i] ?? 0))
  }
  const y2 = (y * y) % P
  // A quotient is a square exactly when the product is. That saves the inversion.
  const product = ((y2 - 1n + P) * (D * y2 + 1n)) % P
  return product === 0n || legendre(product) === 1n
}

/** The address with the highest bump that is off the curve, like `find_program_address`. */
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

/** The bytes of the seeds as one text. No separators: the derivation hashes the seeds without separators too. */
const textOf = (seeds: ReadonlyArray<Uint8Array>): string => {
  let text = ""
  for (const seed of seeds) {
    text += Buffer.from(seed.buffer, seed.byteOffset, seed.byteLength).toString("latin1")
  }
  return text
}

/** `findProgramAddress` with a cache. A derivation costs a tenth of a millisecond and never changes. */
export const makeDeriveAddress = (capacity = 100_000) => {
  const known = new Map<Address, Map<string, Address>>()
  let size = 0
  return (programId: Address, seeds: ReadonlyArray<Uint8Array>): Address => {
    const key = textOf(seeds)
    const found = known.get(programId)?.get(key)
    if (found !== undefined) {
      return found
    }
    if (size >= capacity) {
      known.clear()
      size = 0
    }
    const address = findProgramAddress(programId, seeds)
    const ofProgram = known.get(programId) ?? new Map<string, Address>()
    known.set(programId, ofProgram.set(key, address))
    size++
    return address
  }
}
