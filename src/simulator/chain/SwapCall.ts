/** A swap's instruction and events: the part of a transaction that depends on the program. */
import type { Address } from "../../domain/Address.ts"
import type { ChainClock } from "../../domain/OnChainAccount.ts"
import { type AccountRef, type Call, reads, programLog, programData } from "../../programs/transactions/Call.ts"
import { encodeEventCall } from "../../programs/layout/anchorEvents.ts"
import type { Settlement } from "./Settlement.ts"

/** A planned swap. */
export interface Swapping {
  readonly trader: Address
  readonly aToB: boolean
  /** The trader's token accounts. */
  readonly from: Address
  readonly to: Address
  readonly settlement: Settlement
  /** The least that the trader wants to receive. */
  readonly minimum: bigint
  readonly clock: ChainClock
}

/** How one program executes a swap. */
export interface SwapCall {
  /** The instruction's name in the log; null when the program does not log it. */
  readonly name: string | null
  readonly accounts: ReadonlyArray<AccountRef>
  readonly data: Uint8Array
  /** True when tokens move by `transferChecked`, which names the mint. */
  readonly checked: boolean
  /** A line that the program logs before anything moves. */
  readonly before?: string
  /** Events in the log. */
  readonly logged?: ReadonlyArray<Uint8Array>
  /** Events that the program sends to itself. */
  readonly sent?: { readonly authority: Address; readonly events: ReadonlyArray<Uint8Array> }
  readonly units: number
}

/** The call to itself by which a program emits an event. */
export const selfCall = (program: Address, authority: Address, event: Uint8Array): Call => ({
  program,
  accounts: [reads(authority)],
  data: encodeEventCall(event),
  steps: [],
  units: 2_030
})

/** The whole call, including the transfers inside it. */
export const swapCall = (program: Address, call: SwapCall, transfers: ReadonlyArray<Call>): Call => {
  const { name, accounts, data, before, logged = [], sent, units } = call
  return {
    program,
    accounts,
    data,
    steps: [
      ...(name === null ? [] : [programLog(`Instruction: ${name}`)]),
      ...(before === undefined ? [] : [programLog(before)]),
      ...transfers,
      ...logged.map(programData),
      ...(sent?.events.map((event) => selfCall(program, sent.authority, event)) ?? [])
    ],
    units
  }
}

/** The amount that the pool pays to the trader, before transfer fees. */
export const paidOut = ({ settlement: { payments, amountOut } }: Swapping): bigint =>
  payments.find(({ to }) => to === "trader")?.amount ?? amountOut

/** An account's data after the swap; `before` when the swap does not write the account. */
export const dataAfter = ({ settlement }: Swapping, address: Address, before: Uint8Array): Uint8Array =>
  settlement.writes.find((write) => write.address === address)?.data ?? before

/** Sum of all payments to this account. */
export const paidTo = ({ settlement }: Swapping, account: Address): bigint =>
  settlement.payments.reduce((sum, { to, amount }) => (to === account ? sum + amount : sum), 0n)

/** Orders a pool's two sides by the direction of a swap. */
export const directed = <A>(aToB: boolean, a: A, b: A): { readonly input: A; readonly output: A } =>
  aToB ? { input: a, output: b } : { input: b, output: a }
