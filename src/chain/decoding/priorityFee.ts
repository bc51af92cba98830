import { Address } from "../../domain/Address.ts"
import { dataOf } from "./instructions.ts"
import type { Transaction } from "./transaction.ts"

const LAMPORTS_PER_SIGNATURE = 5000n

/**
 * Programs that verify signatures in their data, each at the price of a signature of the transaction. The first byte of
 * their data is the count.
 */
const verifiers: ReadonlySet<Address> = new Set([
  Address.make("Ed25519SigVerify111111111111111111111111111"),
  Address.make("KeccakSecp256k11111111111111111111111111111"),
  Address.make("Secp256r1SigVerify1111111111111111111111111")
])

/**
 * The priority fee in lamports: the network fee minus 5,000 for each signature, including signatures that instructions
 * verify. Null when such an instruction has no data, or when the fee is less than its signatures cost.
 */
export const priorityFeeOf = ({ feeLamports, instructions, signers }: Transaction): bigint | null => {
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
