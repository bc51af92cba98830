/**
 * A node whose transactions real programs execute, in LiteSVM. It speaks the JSON-RPC and WebSocket subset of the
 * simulator's node. Slots pass only by command.
 */
import { Effect } from "effect"
import type { Address } from "../../src/domain/Address.ts"
import type { ChainClock, OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import type { Call } from "../../src/programs/transactions/Call.ts"
import { derive } from "../../src/quotes/execution/decodeFixture.ts"
import { compileMessage } from "../../src/programs/transactions/message.ts"
import type { Execution, Runtime } from "../../src/quotes/execution/programRuntime.ts"
import { type Bank, type Block, makeBank } from "../../src/simulator/chain/Bank.ts"
import type { Deed } from "../../src/simulator/chain/Ledger.ts"
import type { TokenBalance, TransactionError } from "../../src/simulator/chain/Receipt.ts"
import { balanceOf, holdsTokens, mintOf, ownerOf } from "../../src/simulator/chain/tokens.ts"
import { deployProgram } from "../../src/simulator/chain/programAccounts.ts"
import { healthy } from "../../src/simulator/node/Faults.ts"
import { makeSolanaNode } from "../../src/simulator/node/SolanaNode.ts"

/** Accounts without a slot: they get the slot in which they are written. */
type Written = Omit<OnChainAccount, "slot">

/** A recorded transaction. */
export interface Executed {
  readonly slot: number
  readonly signature: string
  /** Absent when the transaction succeeded. */
  readonly error?: string
}

export interface LitesvmNode {
  readonly rpcUrl: string
  readonly wsUrl: string
  /** Finishes a slot with these accounts in it. Returns the slot. */
  readonly write: (accounts: Iterable<Written>) => number
  /** Deploys a program, or upgrades it, in a slot of its own. Throws when the runtime rejects the bytes. */
  readonly deploy: (programId: Address, elf: Uint8Array) => number
  /**
   * Executes a transaction at the newest slot's clock, and records it with its effects in the next slot. A transaction
   * that fails has the program's error; its only effect is the fee.
   */
  readonly execute: (payer: Address, calls: ReadonlyArray<Call>) => Executed
  /** Finishes this many empty slots. Returns the newest one. */
  readonly pass: (slots?: number) => number
  readonly account: (address: Address) => OnChainAccount | undefined
  /** The clock of the newest slot. */
  readonly clock: () => ChainClock
}

const SEED = "litesvm"

const SIGNATURE_FEE = 5000n
/** Offset of the decimals in a mint. */
const MINT_DECIMALS = 44

/** The failing instruction and its code, from the runtime's log. Codes of the runtime itself count as 0. */
const failureOf = ({ error, logs }: Exclude<Execution, { readonly after: unknown }>): TransactionError => ({
  index: Math.max(0, logs.filter((line) => line.endsWith(" invoke [1]")).length - 1),
  code: Number.parseInt(/0x(?<code>[0-9a-f]+)/u.exec(`${error} ${logs.join(" ")}`)?.groups?.["code"] ?? "0", 16)
})

type Read = (address: Address) => Written | undefined

/** Balances of the token accounts among these keys. */
const tokensOf = (keys: ReadonlyArray<Address>, read: Read): ReadonlyArray<TokenBalance> =>
  keys.flatMap((key, index) => {
    const account = read(key)
    const held = account && { ...account, slot: 0 }
    if (held === undefined || !holdsTokens(held)) {
      return []
    }
    const mint = mintOf(held)
    const decimals = read(mint)?.data[MINT_DECIMALS] ?? 0
    return [{ index, mint, owner: ownerOf(held), program: held.owner, amount: balanceOf(held), decimals }]
  })

/** The record of a transaction, from the accounts before it and after it. */
const deedOf = (
  bank: Bank,
  payer: Address,
  calls: ReadonlyArray<Call>,
  { after, before, error }: { readonly before: Read; readonly after: Read; readonly error: TransactionError | null }
): Deed => {
  const message = compileMessage(payer, calls, { version: "legacy", tables: null })
  const fee = SIGNATURE_FEE * BigInt(message.signers)
  const lamportsOf = (read: Read) => message.keys.map((key) => read(key)?.lamports ?? 0n)
  return {
    kind: error === null ? "transfer" : "failed",
    wallet: payer,
    fee,
    frontEndFee: 0n,
    swaps: [],
    receipt: {
      message,
      blockhash: bank.newest().blockhash,
      calls,
      error,
      fee,
      unitLimit: 1_400_000,
      lamports: { before: lamportsOf(before), after: lamportsOf(after) },
      tokens: { before: tokensOf(message.keys, before), after: tokensOf(message.keys, after) }
    }
  }
}

/** The accounts that a transaction wrote. One that failed wrote its payer alone. */
const writtenBy = (
  bank: Bank,
  payer: Address,
  calls: ReadonlyArray<Call>,
  execution: Execution
): ReadonlyArray<Written> => {
  if ("error" in execution) {
    const { signers } = compileMessage(payer, calls, { version: "legacy", tables: null })
    const account = bank.must(payer)
    return [{ ...account, lamports: account.lamports - SIGNATURE_FEE * BigInt(signers) }]
  }
  const writable = calls.flatMap(({ accounts }) => accounts.filter((one) => one.writable).map(({ address }) => address))
  return [...new Set([payer, ...writable])].flatMap((address) => {
    const after = execution.after(address)
    return after === undefined ? [] : [{ address, ...after }]
  })
}

const nodeOf = (bank: Bank, runtime: Runtime, publish: (block: Block) => void) => {
  const finish = (build: () => ReadonlyArray<Deed>): Block => {
    const block = bank.produce(build)
    runtime.setClock(bank.clock())
    publish(block)
    return block
  }
  const put = (account: Written): void => {
    runtime.setAccount({ ...account, slot: bank.clock().slot })
    bank.put(account)
  }
  const only = (build: () => void): number =>
    finish(() => {
      build()
      return []
    }).slot
  return {
    write: (accounts: Iterable<Written>) => only(() => Array.from(accounts).forEach(put)),
    deploy: (programId: Address, elf: Uint8Array) => {
      runtime.deploy(programId, elf)
      return only(() => deployProgram({ bank, derive }, programId, bank.clock().slot, elf))
    },
    execute: (payer: Address, calls: ReadonlyArray<Call>): Executed => {
      const execution = runtime.simulate(payer, calls)
      const written = new Map(writtenBy(bank, payer, calls, execution).map((account) => [account.address, account]))
      const error = "error" in execution ? failureOf(execution) : null
      const after: Read = (address) => written.get(address) ?? bank.get(address)
      const deed = deedOf(bank, payer, calls, { before: bank.get, after, error })
      const { slot, transactions } = finish(() => {
        written.forEach(put)
        return [deed]
      })
      const signature = transactions[0]?.signature ?? ""
      return "error" in execution ? { slot, signature, error: execution.error } : { slot, signature }
    },
    pass: (slots = 1) => Array.from({ length: slots }, () => only(() => undefined)).at(-1) ?? bank.newest().slot,
    account: bank.get,
    clock: bank.clock
  }
}

/** Serves a chain until the scope closes. It begins at this slot and time, with no account but its clock. */
export const litesvmNode = Effect.fnUntraced(function* (
  makeRuntime: () => Runtime,
  start: { readonly slot: number; readonly unixTimestamp: number } = { slot: 1_000, unixTimestamp: 1_790_000_000 }
) {
  const bank = makeBank({ seed: SEED, startSlot: start.slot, startUnixMs: start.unixTimestamp * 1000 })
  const node = yield* makeSolanaNode({ seed: SEED, bank: () => bank, ailment: healthy, resetLedger: () => undefined })
  const runtime = makeRuntime()
  runtime.setClock(bank.clock())
  return { rpcUrl: node.rpcUrl, wsUrl: node.wsUrl, ...nodeOf(bank, runtime, node.publish) } satisfies LitesvmNode
})
