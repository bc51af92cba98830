/** Instruction and events of a swap: the part of a transaction that depends on the program. */
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

/** Call of one program for a swap. */
export interface SwapCall {
  /** The instruction's name in the log; null for a program that does not log it. */
  readonly name: string | null
  readonly accounts: ReadonlyArray<AccountRef>
  readonly data: Uint8Array
  /** True when tokens move by transfers that name their mint. */
  readonly checked: boolean
  /** A line that the program writes before anything moves. */
  readonly before?: string
  /** Events in the log. */
  readonly logged?: ReadonlyArray<Uint8Array>
  /** Events that the program sends to itself. */
  readonly sent?: { readonly authority: Address; readonly events: ReadonlyArray<Uint8Array> }
  readonly units: number
}

/** The program's call to itself that carries an event. */
export const selfCall = (program: Address, authority: Address, event: Uint8Array): Call => ({
  program,
  accounts: [reads(authority)],
  data: encodeEventCall(event),
  steps: [],
  units: 2_030
})

/** The whole call, with the transfers that happen inside of it. */
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

/** The data that the swap leaves in an account; `before` for one that it does not write. */
export const dataAfter = ({ settlement }: Swapping, address: Address, before: Uint8Array): Uint8Array =>
  settlement.writes.find((write) => write.address === address)?.data ?? before

/** Sum of the payments to this account. */
export const paidTo = ({ settlement }: Swapping, account: Address): bigint =>
  settlement.payments.reduce((sum, { to, amount }) => (to === account ? sum + amount : sum), 0n)

/** The sides of a pool in the direction of a swap. */
export const directed = <A>(aToB: boolean, a: A, b: A): { readonly input: A; readonly output: A } =>
  aToB ? { input: a, output: b } : { input: b, output: a }
