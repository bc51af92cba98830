/**
 * A simulated chain at the end of its past and some minutes further, as data. With it a node answers, and has new blocks,
 * while the chain itself makes its past again.
 *
 * The same seed makes the same chain at any time. In the accounts, only slots and seconds differ. Where they are is found
 * by making the chain twice, at two times.
 */
import { deserialize, serialize } from "node:v8"
import { zstdCompressSync, zstdDecompressSync } from "node:zlib"
import type { Address } from "../../domain/Address.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { CLOCK_SYSVAR } from "../chain/addresses.ts"
import type { Bank, BankState, Block } from "../chain/Bank.ts"
import type { SlotTime } from "../traders/startChain.ts"

/** A number of eight bytes in an account's data that differs between two starts. */
type Moving = readonly [offset: number, by: "slots" | "seconds"]

interface RecordedAccount extends OnChainAccount {
  readonly moving?: ReadonlyArray<Moving>
}

/** The state of a chain after a block: all of it, or what the block changed. Heights count from the first block. */
interface RecordedState extends BankState {
  readonly accounts: ReadonlyArray<RecordedAccount>
}

export interface RecordedChain {
  /** The first slot after the past. */
  readonly live: SlotTime
  /** Everything at the end of the past. */
  readonly end: RecordedState
  /** The changes of the slots after it, one by one; null for a slot without a block. */
  readonly slots: ReadonlyArray<RecordedState | null>
}

/** By how much two starts differ. */
interface Difference {
  readonly slots: number
  readonly seconds: number
}

const differenceOf = (from: SlotTime, to: SlotTime): Difference => ({
  slots: to.slot - from.slot,
  seconds: (to.unixMs - from.unixMs) / 1000
})

const viewOf = ({ buffer, byteLength, byteOffset }: Uint8Array) => new DataView(buffer, byteOffset, byteLength)

const BYTES = 8

/** The numbers that differ between two states of an account. Throws when anything else differs. */
const movingIn = (
  account: OnChainAccount,
  other: OnChainAccount | undefined,
  { seconds, slots }: Difference
): ReadonlyArray<Moving> => {
  const unexplained = () => new Error(`the account ${account.address} depends on when the chain starts`)
  const { data, lamports, owner, slot } = account
  if (
    other === undefined ||
    other.slot - slot !== slots ||
    other.lamports !== lamports ||
    other.owner !== owner ||
    other.data.length !== data.length
  ) {
    throw unexplained()
  }
  const [view, otherView] = [viewOf(data), viewOf(other.data)]
  const moving: Array<Moving> = []
  for (let offset = 0; offset < data.length; offset++) {
    if (data[offset] !== other.data[offset]) {
      const difference =
        offset + BYTES > data.length ? 0n : otherView.getBigInt64(offset, true) - view.getBigInt64(offset, true)
      if (difference !== BigInt(slots) && difference !== BigInt(seconds)) {
        throw unexplained()
      }
      moving.push([offset, difference === BigInt(slots) ? "slots" : "seconds"])
      offset += BYTES - 1
    }
  }
  return moving
}

const moved = ({ moving, ...account }: RecordedAccount, difference: Difference): OnChainAccount => {
  const slot = account.slot + difference.slots
  if (moving === undefined) {
    return { ...account, slot }
  }
  const data = account.data.slice()
  const view = viewOf(data)
  for (const [offset, by] of moving) {
    view.setBigInt64(offset, view.getBigInt64(offset, true) + BigInt(difference[by]), true)
  }
  return { ...account, data, slot }
}

/** A chain to record, and the function that lets one more of its slots pass. */
interface Recordable {
  readonly bank: Bank
  /** The height of its first block, which depends on the start. */
  readonly firstHeight: number
  readonly live: SlotTime
  readonly pass: () => Block | null
}

/**
 * Records a chain at the end of its past, and so many slots further. `twin` is the same chain at another time. No byte
 * of the difference in slots and in seconds may be zero at its low end, and they must not be the same.
 */
export const recordChain = (chain: Recordable, twin: Recordable, ahead: number): RecordedChain => {
  const difference = differenceOf(chain.live, twin.live)
  const recorded = (accounts: Iterable<OnChainAccount>): ReadonlyArray<RecordedAccount> =>
    Array.from(accounts)
      // Every block writes the clock.
      .filter(({ address }) => address !== CLOCK_SYSVAR)
      .map((account) => {
        const moving = movingIn(account, twin.bank.get(account.address), difference)
        return moving.length === 0 ? account : { ...account, moving }
      })
  const stateOf = ({ height, next, parent, slot }: Block, accounts: Iterable<OnChainAccount>): RecordedState => ({
    slot,
    parent,
    next,
    height: height - chain.firstHeight,
    accounts: recorded(accounts),
    closed: []
  })
  const addresses = () => new Set(Array.from(chain.bank.accounts(), ({ address }) => address))
  const end = stateOf(chain.bank.newest(), chain.bank.accounts())
  let open: ReadonlySet<Address> = addresses()
  const slots = Array.from({ length: ahead }, () => {
    const [block] = [chain.pass(), twin.pass()]
    if (block === null) {
      return null
    }
    const before = open
    open = addresses()
    const closed = Array.from(before).filter((address) => !open.has(address))
    return { ...stateOf(block, block.accounts), closed }
  })
  return { live: chain.live, end, slots }
}

export const packChain = (chain: RecordedChain): Uint8Array => zstdCompressSync(serialize(chain))

/** Throws when the bytes are not whole. */
export const unpackChain = (bytes: Uint8Array): RecordedChain => deserialize(zstdDecompressSync(bytes))

/** A recorded chain that goes on slot by slot. */
export interface Replay {
  readonly bank: Bank
  /** How many slots have passed since the end of the past. */
  readonly passed: () => number
  readonly left: () => number
  /** Lets one slot pass and returns its block, without its transactions; null for a slot without a block. */
  readonly pass: () => Block | null
}

/** Replays a recorded chain in an empty bank of its seed, as a chain that goes live at another slot. */
export const makeReplay = ({ end, live, slots }: RecordedChain, bank: Bank, at: SlotTime): Replay => {
  const difference = differenceOf(live, at)
  const firstHeight = bank.newest().height
  const restore = (state: RecordedState, next: number): Block =>
    bank.restore({
      ...state,
      slot: state.slot + difference.slots,
      parent: state.parent + difference.slots,
      next: next + difference.slots,
      height: state.height + firstHeight,
      accounts: state.accounts.map((account) => moved(account, difference))
    })
  // A slot that is missed or dropped later is not known to be when a block is made.
  const nextAfter = (place: number, state: RecordedState) =>
    slots.find((later, index) => index >= place && later !== null)?.slot ?? state.next
  bank.forgetBefore(restore(end, nextAfter(0, end)).slot)
  let passed = 0
  return {
    bank,
    passed: () => passed,
    left: () => slots.length - passed,
    pass: () => {
      const state = slots[passed] ?? null
      passed = Math.min(slots.length, passed + 1)
      return state === null ? null : restore(state, nextAfter(passed, state))
    }
  }
}
