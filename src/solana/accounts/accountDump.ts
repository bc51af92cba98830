/** Account dumps: the content of one file, and one market from several. */
import { Result, Schema } from "effect"
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import { Address } from "../../domain/Address.ts"
import { bytesFromBase64, Lamports, parseJson, Slot } from "./accountJson.ts"

/** Slots of a full epoch, for dumps that do not name theirs. */
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

/** One file's accounts, and the time of their reading where it is stated. */
export interface AccountDump {
  readonly accounts: ReadonlyArray<OnChainAccount>
  readonly slot: number
  readonly epoch: number | null
  readonly unixTimestamp: number | null
}

/** Accounts of one fixed market, and its time. */
export interface Recording {
  readonly accounts: ReadonlyMap<Address, OnChainAccount>
  readonly clock: ChainClock
}

/** The dump in the text of a file, or its fault. Without a slot it counts as of slot 0. */
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

/** The time of a slot, extrapolated at 0.4 s a slot from the newest dump that states slot and time. Zero when none does. */
const timeAt = (slot: number, dumps: ReadonlyArray<AccountDump>): number => {
  const dated = dumps.filter((dump) => dump.slot > 0 && dump.unixTimestamp !== null)
  const anchor = dated.toSorted((a, b) => b.slot - a.slot)[0]
  const latest = dumps.reduce((time, { unixTimestamp }) => Math.max(time, unixTimestamp ?? 0), 0)
  return anchor === undefined
    ? latest
    : Math.max(latest, (anchor.unixTimestamp ?? 0) + Math.round((slot - anchor.slot) * SECONDS_PER_SLOT))
}

/**
 * One market out of many dumps. Of an account's states the one of the highest slot counts, of equals the first. The time is
 * that of the newest dump; where it is not stated, the epoch and the time follow from the slot.
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
