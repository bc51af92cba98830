/** The priority fee of a transaction. */
import { Address } from "../../domain/Address.ts"
import { dataOf } from "../instructions.ts"
import type { Transaction } from "../transaction.ts"

const LAMPORTS_PER_SIGNATURE = 5000n

/** Programs that verify signatures in their data, each at the price of one of the transaction; the first byte counts them. */
const verifiers: ReadonlySet<Address> = new Set([
  Address.make("Ed25519SigVerify111111111111111111111111111"),
  Address.make("KeccakSecp256k11111111111111111111111111111"),
  Address.make("Secp256r1SigVerify1111111111111111111111111")
])

/**
 * Lamports of the network fee beyond 5,000 for each signature, those that are verified by instructions included. Null when
 * such an instruction has no data, or the fee is less than its signatures cost.
 */
export const priorityOf = ({ feeLamports, instructions, signers }: Transaction): bigint | null => {
  let signatures = signers
  for (const instruction of instructions) {
    if (verifiers.has(instruction.program)) {
      const count = dataOf(instruction)?.[0]
      if (count === undefined) {
        return null
      }
      signatures += count
    }
  }
  const priority = feeLamports - LAMPORTS_PER_SIGNATURE * BigInt(signatures)
  return priority < 0n ? null : priority
}
