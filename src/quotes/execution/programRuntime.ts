/** A Solana runtime in this process that executes one transaction at a time. It is LiteSVM, an optional dependency. */
import { createRequire } from "node:module"
import type { ChainClock, OnChainAccount } from "../../domain/OnChainAccount.ts"
import { Address } from "../../domain/Address.ts"
import type { Call } from "../../programs/transactions/Call.ts"
import { compileMessage } from "../../programs/transactions/message.ts"
import { wireOf } from "../../programs/transactions/wire.ts"

/** The accounts after the call, or the program's error, with the compute units that were used. */
export type Execution =
  | {
      readonly after: (address: Address) => Omit<OnChainAccount, "address" | "slot"> | undefined
      readonly units: number
    }
  | { readonly error: string; readonly logs: ReadonlyArray<string>; readonly units: number }

/** A separate chain with its own accounts and programs. */
export interface Runtime {
  /** Deploys a program. Throws when the runtime rejects the bytes. */
  readonly deploy: (programId: Address, elf: Uint8Array) => void
  readonly setAccount: (account: OnChainAccount) => void
  readonly setClock: (clock: ChainClock) => void
  /** Executes the calls in one transaction, whose fee `payer` pays, and discards its effects. */
  readonly simulate: (payer: Address, calls: ReadonlyArray<Call>) => Execution
}

interface Meta {
  logs(): ReadonlyArray<string>
  computeUnitsConsumed(): bigint
}

interface PostAccount {
  readonly address: string
  readonly data: Uint8Array
  readonly lamports: bigint
  readonly programAddress: string
}

/** The part of LiteSVM that is used here. It is declared here because the package may be absent. */
interface Svm {
  withSigverify(on: boolean): Svm
  withBlockhashCheck(on: boolean): Svm
  withComputeBudget(budget: object): Svm
  withTransactionHistory(capacity: bigint): Svm
  latestBlockhash(): string
  addProgram(programId: string, elf: Uint8Array): void
  setAccount(account: object): void
  setClock(clock: object): void
  simulateTransaction(
    transaction: object
  ): { postAccounts(): ReadonlyArray<PostAccount>; meta(): Meta } | { err(): unknown; meta(): Meta; toString(): string }
}

interface Package {
  readonly LiteSVM: new () => Svm
  readonly Clock: new (slot: bigint, epochStart: bigint, epoch: bigint, leaderEpoch: bigint, time: bigint) => object
  readonly ComputeBudget: new () => { computeUnitLimit: bigint }
}

/** Compute units that a transaction may use. */
const COMPUTE_LIMIT = 1_400_000n

const runtimeOf = ({ Clock, ComputeBudget, LiteSVM }: Package): Runtime => {
  const budget = new ComputeBudget()
  budget.computeUnitLimit = COMPUTE_LIMIT
  const svm = new LiteSVM()
    .withSigverify(false)
    .withBlockhashCheck(false)
    .withTransactionHistory(0n)
    .withComputeBudget(budget)
  const blockhash = svm.latestBlockhash()

  return {
    deploy: (programId, elf) => svm.addProgram(programId, elf),
    setAccount: ({ address, data, lamports, owner }) =>
      svm.setAccount({ address, data, lamports, programAddress: owner, executable: false, space: BigInt(data.length) }),
    setClock: ({ epoch, slot, unixTimestamp }) => {
      const [at, inEpoch, time] = [BigInt(slot), BigInt(epoch), BigInt(unixTimestamp)]
      svm.setClock(new Clock(at, time, inEpoch, inEpoch + 1n, time))
    },
    simulate: (payer, calls) => {
      const message = compileMessage(payer, calls, { version: "legacy", tables: null })
      // Skips the first byte, the number of signatures, which is not part of the message.
      const messageBytes = wireOf({ message, calls, blockhash }, []).subarray(1)
      const signatures = Object.fromEntries(message.keys.slice(0, message.signers).map((signer) => [signer, null]))
      const result = svm.simulateTransaction({ messageBytes, signatures })
      if ("err" in result) {
        const meta = result.meta()
        const units = Number(meta.computeUnitsConsumed())
        return { error: errorIn(meta.logs()) ?? String(result.err()), logs: meta.logs(), units }
      }
      const accounts = new Map(
        result
          .postAccounts()
          .map(({ address, data, lamports, programAddress }) => [
            address,
            { data, lamports, owner: Address.make(programAddress) }
          ])
      )
      return { after: (address) => accounts.get(address), units: Number(result.meta().computeUnitsConsumed()) }
    }
  }
}

/** The name of an Anchor error, or the reason from the runtime's log. */
const errorIn = (logs: ReadonlyArray<string>): string | undefined => {
  const text = logs.join("\n")
  return (
    /Error Code: (?<name>\w+)/u.exec(text)?.groups?.["name"] ??
    /Program \w+ failed: (?<reason>[^\n]+)/u.exec(text)?.groups?.["reason"]
  )
}

/** Loads LiteSVM. Returns a function that makes fresh runtimes, or why this machine has none. */
export const loadRuntime = (
  load: () => unknown = () => createRequire(import.meta.url)("litesvm")
): (() => Runtime) | { readonly reason: string } => {
  try {
    const loaded = load() as Package
    return () => runtimeOf(loaded)
  } catch (error) {
    const [detail = ""] = String(error instanceof Error ? error.message : error).split("\n")
    return {
      reason: `The optional package litesvm cannot be loaded (npm ci installs it on Linux and macOS, x64 and arm64; no other platform has it): ${detail}`
    }
  }
}
