/** Reads account dumps, and merges several into one market. */
import { Result, Schema } from "effect"
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import { Address } from "../../domain/Address.ts"
import { bytesFromBase64, Lamports, parseJson, Slot } from "../rpc/accountJson.ts"

/** Slots of a full epoch. Used when no dump names its epoch. */
const SLOTS_PER_EPOCH = 432_000
const SECONDS_PER_SLOT = 0.4

const DumpJson = Schema.Struct({
  accounts: Schema.Array(
    Schema.Struct({ pubkey: Address, owner: Address, lamports: Lamports, dataBase64: Schema.String })
  ),
  slot: Schema.optionalKey(Slot),
  epoch: Schema.optionalKey(Slot),
  unixTimestamp: Schema.optionalKey(Slot)
})
const decodeDump = Schema.decodeUnknownResult(DumpJson)

/** The accounts of one file, and when they were read if the file says so. */
export interface AccountDump {
  readonly accounts: ReadonlyArray<OnChainAccount>
  readonly slot: number
  readonly epoch: number | null
  readonly unixTimestamp: number | null
}

/** The accounts of a fixed market, and its time. */
export interface Recording {
  readonly accounts: ReadonlyMap<Address, OnChainAccount>
  readonly clock: ChainClock
}

/** Reads a dump from the text of a file, or fails with what is wrong. A dump without a slot counts as slot 0. */
export const readDump = (text: string): Result.Result<AccountDump, string> => {
  const json = parseJson(text)
  if (json === undefined) {
    return Result.fail("not JSON")
  }
  const decoded = decodeDump(json)
  if (Result.isFailure(decoded)) {
    return Result.fail(decoded.failure.message.slice(0, 300))
  }
  const { slot = 0, epoch = null, unixTimestamp = null } = decoded.success
  const accounts: Array<OnChainAccount> = []
  for (const { pubkey, owner, lamports, dataBase64 } of decoded.success.accounts) {
    const data = bytesFromBase64(dataBase64)
    if (data === null) {
      return Result.fail(`the data of ${pubkey} is not base64`)
    }
    accounts.push({ address: pubkey, owner, lamports: BigInt(lamports), data, slot })
  }
  return Result.succeed({ accounts, slot, epoch, unixTimestamp })
}

/** The Unix time of a slot, extrapolated at 0.4 s a slot from the newest dump that states both; zero without one. */
const timeAt = (slot: number, dumps: ReadonlyArray<AccountDump>): number => {
  const dated = dumps.filter((dump) => dump.slot > 0 && dump.unixTimestamp !== null)
  const anchor = dated.toSorted((a, b) => b.slot - a.slot)[0]
  const latest = dumps.reduce((time, { unixTimestamp }) => Math.max(time, unixTimestamp ?? 0), 0)
  return anchor === undefined
    ? latest
    : Math.max(latest, (anchor.unixTimestamp ?? 0) + Math.round((slot - anchor.slot) * SECONDS_PER_SLOT))
}

/**
 * Merges dumps into one market. For each account the state with the highest slot wins; the first one among equals. The
 * newest dump gives the time. Where that dump does not state epoch and time, they are derived from the slot.
 */
export const mergeDumps = (dumps: ReadonlyArray<AccountDump>): Recording => {
  const accounts = new Map<Address, OnChainAccount>()
  let newest: AccountDump | undefined
  for (const dump of dumps) {
    newest = newest === undefined || dump.slot > newest.slot ? dump : newest
    for (const account of dump.accounts) {
      const known = accounts.get(account.address)
      if (known === undefined || account.slot > known.slot) {
        accounts.set(account.address, account)
      }
    }
  }
  const slot = newest?.slot ?? 0
  return {
    accounts,
    clock: {
      slot,
      epoch: newest?.epoch ?? Math.floor(slot / SLOTS_PER_EPOCH),
      unixTimestamp: newest?.unixTimestamp ?? timeAt(slot, dumps)
    }
  }
}
