/**
 * Holders of tokens: from all token accounts of a mint, and the balances that every block since has left in them. Holders of a
 * past hour: from the accounts now, and the balances that every block since found in them.
 */
import bs58 from "bs58"
import { blocksOf, call, type RawBlock, slotsBetween } from "./chain.ts"
import { type Findings, numberOf } from "./differences.ts"
import type { TradeRecord } from "./record.ts"
import type { Service, WireHolderHour, WireHolders } from "./service.ts"
import { keysOf, u64 } from "./transfers.ts"

const [OWNER, AMOUNT, LENGTH] = [32, 64, 165]
const BURN_ADDRESSES = new Set(["1nc1nerator11111111111111111111111111111111", "11111111111111111111111111111111"])
/**
 * In each of these programs one address owns the vaults of all pools, whether or not they ever traded: Raydium AMM v4, Raydium
 * CPMM, Meteora DAMM v2 and Meteora DBC. From their public documents.
 */
export const VAULT_OWNERS = [
  "5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1",
  "GpMZbSM2GgvTKHJirzeGfMFoaZ8UR2X7F4v8vHTvxFbL",
  "HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC",
  "FhVo3mqL8PW5pH5U2CN4XE33DokiyZnUwuGpH2hmHLuM"
]
const TRIES = 40
const WAIT_MS = 250
const SNAPSHOT_PAUSE_MS = 10_000
const [TOP, WIDE_TOP, MOST_LISTED] = [10, 50, 100]
/** Percentages are written with 15 digits. */
const PERCENT = 1e-12

type Holders = Pick<Service, "holders">

interface Holding {
  readonly owner: string
  readonly units: bigint
}

/** The token accounts of a mint at a slot. */
export interface ListedHolders {
  readonly mint: string
  readonly slot: number
  readonly accounts: ReadonlyMap<string, Holding>
}

interface Listed {
  readonly context: { readonly slot: number }
  readonly value: ReadonlyArray<{ readonly pubkey: string; readonly account: { readonly data: readonly [string] } }>
}

/** Every token account of a mint as the node has it now; null for a mint that does not exist. */
export const listHolders = async (rpc: string, mint: string): Promise<ListedHolders | null> => {
  const { value: account } = (await call(rpc, "getAccountInfo", [mint, { encoding: "base64" }])) as {
    value: { readonly owner: string } | null
  }
  if (account === null) {
    return null
  }
  const filters = [{ memcmp: { offset: 0, bytes: mint } }]
  const options = { encoding: "base64", commitment: "confirmed", withContext: true, filters }
  const { context, value } = (await call(rpc, "getProgramAccounts", [account.owner, options])) as Listed
  const accounts = value.flatMap(({ account: { data }, pubkey }) => {
    const bytes = Buffer.from(data[0], "base64")
    const owner = bs58.encode(bytes.subarray(OWNER, OWNER + 32))
    return bytes.length < LENGTH ? [] : [[pubkey, { owner, units: u64(bytes, AMOUNT) }] as const]
  })
  return { mint, slot: context.slot, accounts: new Map(accounts) }
}

/** Sets the accounts of a mint to what a block leaves in them. */
const applyBlock = (accounts: Map<string, Holding>, mint: string, { transactions }: RawBlock): void => {
  for (const transaction of transactions) {
    const { postTokenBalances, preTokenBalances } = transaction.meta
    const keys = keysOf(transaction)
    const named = (balances: typeof preTokenBalances) => balances.filter((each) => each.mint === mint)
    // An account that has no balance afterwards was closed.
    named(preTokenBalances).forEach(({ accountIndex }) => accounts.delete(keys[accountIndex] ?? ""))
    for (const { accountIndex, owner, uiTokenAmount } of named(postTokenBalances)) {
      accounts.set(keys[accountIndex] ?? "", { owner: owner ?? "", units: BigInt(uiTokenAmount.amount) })
    }
  }
}

/** The owners of the accounts with more than nothing, the largest first. */
const ownersOf = (accounts: ReadonlyMap<string, Holding>): ReadonlyArray<Holding> => {
  const sums = new Map<string, bigint>()
  for (const { owner, units } of accounts.values()) {
    sums.set(owner, (sums.get(owner) ?? 0n) + units)
  }
  return Array.from(sums, ([owner, units]) => ({ owner, units }))
    .filter(({ units }) => units > 0n)
    .toSorted((a, b) => (a.units === b.units ? 0 : a.units > b.units ? -1 : 1))
}

const sumOf = (holdings: ReadonlyArray<Holding>): bigint => holdings.reduce((sum, { units }) => sum + units, 0n)

/** Fifteen digits of the exact fraction. */
const percentOf = (part: ReadonlyArray<Holding>, owners: ReadonlyArray<Holding>): number =>
  Number((sumOf(part) * 10n ** 20n) / (sumOf(owners) || 1n)) / 1e18

/** The answer of the service once it follows the token and has come to the slot; null while it does not. */
const answerOf = async (service: Holders, { mint, slot }: ListedHolders): Promise<WireHolders | null> => {
  for (let tries = 0; tries < TRIES; tries++) {
    const answer = await service.holders(mint)
    if (answer.state === "unavailable") {
      return null
    }
    if (answer.slot !== null && answer.slot >= slot && answer.holders.coverage.complete) {
      return answer
    }
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS))
  }
  return null
}

/** Compares the holders of a token, counted from the accounts listed and the blocks since. False without an answer to compare. */
export const compareHolders = async (
  service: Holders,
  rpc: string,
  { pools, wallets }: Pick<TradeRecord, "pools" | "wallets">,
  findings: Findings,
  listed: ListedHolders
): Promise<boolean> => {
  const { mint } = listed
  const answer = await answerOf(service, listed)
  if (answer === null || answer.slot === null) {
    return false
  }
  const accounts = new Map(listed.accounts)
  for await (const block of blocksOf(rpc, await slotsBetween(rpc, listed.slot + 1, answer.slot))) {
    applyBlock(accounts, mint, block)
  }
  const owners = ownersOf(accounts)
  const units = new Map(owners.map((each) => [each.owner, each.units]))
  const top = answer.top ?? []
  findings.exact("holders", mint, "holders", answer.holders.value, String(owners.length))
  findings.exact("holders", mint, "heldAmount", answer.heldAmount, sumOf(owners))
  findings.exact("holders", mint, "listed", String(top.length), String(Math.min(MOST_LISTED, owners.length)))
  top.forEach(({ amount, owner }, place) => {
    findings.exact("holders", `${mint} ${owner}`, "amount", amount, units.get(owner) ?? 0n)
    findings.exact("holders", `${mint} ${place}`, "amount in order", amount, owners[place]?.units ?? 0n)
  })

  const vaults = new Set(pools.filter((trade) => trade.mint === mint).flatMap((trade) => trade.vaults))
  const ofPools = new Set(Array.from(vaults).flatMap((vault) => accounts.get(vault)?.owner ?? []))
  const ofTraders = new Set(wallets.map(({ wallet }) => wallet))
  for (const { kind, owner } of top) {
    const isBurn = BURN_ADDRESSES.has(owner)
    if (ofPools.has(owner) || ofTraders.has(owner) || isBurn) {
      const expected = isBurn ? "burn" : ofPools.has(owner) ? "pool" : "owner"
      findings.exact("holders", `${mint} ${owner}`, "kind", kind === "curve" ? "pool" : kind, expected)
    }
  }
  const excluded = new Set(top.filter(({ kind }) => kind !== "owner").map(({ owner }) => owner))
  const rest = owners.filter(({ owner }) => !excluded.has(owner))
  const percent = (part: ReadonlyArray<Holding>) => percentOf(part, owners)
  const share = (field: "excludedPct" | "top10Pct" | "top50Pct", part: ReadonlyArray<Holding>) => {
    const { value } = answer[field]
    if (value !== null) {
      findings.number("holders", mint, field, Number(value), percent(part), PERCENT)
    }
  }
  share("top10Pct", rest.slice(0, TOP))
  if (rest.length - owners.length + MOST_LISTED >= WIDE_TOP) {
    share("top50Pct", rest.slice(0, WIDE_TOP))
  }
  if (owners.length <= MOST_LISTED) {
    share(
      "excludedPct",
      owners.filter(({ owner }) => excluded.has(owner))
    )
  }
  return true
}

/** Compares the holders of some mints. Returns how many mints the service or the node has none of. */
export const checkHolders = async (
  service: Holders,
  rpc: string,
  record: TradeRecord,
  findings: Findings,
  mints: ReadonlyArray<string>
): Promise<number> => {
  let without = 0
  for (const mint of mints) {
    const listed = await listHolders(rpc, mint).catch(() => null)
    const isCompared = listed !== null && (await compareHolders(service, rpc, record, findings, listed))
    without += isCompared ? 0 : 1
  }
  return without
}

/** One account of a mint as a block found it; null when it did not exist. */
interface Before {
  readonly slot: number
  readonly mint: string
  readonly account: string
  readonly holding: Holding | null
}

/** The accounts of some mints as a block found them, in the order of its transactions. */
const foundBy = ({ slot, transactions }: RawBlock, mints: ReadonlySet<string>): ReadonlyArray<Before> =>
  transactions.flatMap((transaction) => {
    const { postTokenBalances, preTokenBalances } = transaction.meta
    const keys = keysOf(transaction)
    const before = new Map(preTokenBalances.map((each) => [each.accountIndex, each]))
    return [...preTokenBalances, ...postTokenBalances.filter(({ accountIndex }) => !before.has(accountIndex))]
      .filter(({ mint }) => mints.has(mint))
      .map(({ accountIndex, mint }) => {
        const known = before.get(accountIndex)
        const holding =
          known === undefined ? null : { owner: known.owner ?? "", units: BigInt(known.uiTokenAmount.amount) }
        return { slot, mint, account: keys[accountIndex] ?? "", holding }
      })
  })

/** Owners that are no wallets: pools, curves, owners of vaults, and large holders that the service says are no wallets. */
const notWallets = (
  { launches, pools }: Pick<TradeRecord, "launches" | "pools">,
  mint: string,
  ownerOf: (account: string) => string | undefined,
  top: WireHolders["top"]
): ReadonlySet<string> => {
  const own = pools.filter((trade) => trade.mint === mint)
  return new Set([
    ...BURN_ADDRESSES,
    ...VAULT_OWNERS,
    ...own.flatMap(({ pool, vaults }) => [pool, ...vaults.flatMap((vault) => ownerOf(vault) ?? [])]),
    ...launches.filter((launch) => launch.mint === mint).map(({ pool }) => pool),
    ...(top ?? []).filter(({ kind }) => kind !== "owner").map(({ owner }) => owner)
  ])
}

const compareHour = (
  findings: Findings,
  mint: string,
  hour: WireHolderHour,
  owners: ReadonlyArray<Holding>,
  excluded: ReadonlySet<string>
): void => {
  const of = `${mint} ${new Date(hour.hourMs).toISOString()}`
  findings.exact("holder hours", of, "holders", String(hour.holders), String(owners.length))
  findings.exact("holder hours", of, "heldAmount", hour.heldAmount, sumOf(owners))
  if (hour.poolsKnown && owners.length > 0) {
    const rest = owners.filter(({ owner }) => !excluded.has(owner))
    const share = (field: "excludedPct" | "top10Pct" | "top50Pct", part: ReadonlyArray<Holding>) =>
      findings.number("holder hours", of, field, numberOf(hour[field]), percentOf(part, owners), PERCENT)
    share("top10Pct", rest.slice(0, TOP))
    share("top50Pct", rest.slice(0, WIDE_TOP))
    share(
      "excludedPct",
      owners.filter(({ owner }) => excluded.has(owner))
    )
  }
}

/**
 * Compares the hours of some mints from `firstSlot` on. The node has to have every block since. Returns how many mints have no
 * such hour.
 */
export const compareHolderHours = async (
  service: Pick<Service, "holderHistory" | "holders">,
  rpc: string,
  record: Pick<TradeRecord, "launches" | "pools">,
  findings: Findings,
  mints: ReadonlyArray<string>,
  firstSlot: number
): Promise<number> => {
  const asked = await Promise.all(
    mints.map(async (mint) => {
      const hours = await service.holderHistory(mint)
      const { top } = await service.holders(mint)
      // Listed last, so that it is no older than any hour.
      const listed = await listHolders(rpc, mint).catch(() => null)
      return listed === null ? [] : [{ ...listed, top, hours: hours.filter(({ slot }) => slot >= firstSlot) }]
    })
  )
  const tokens = asked.flat().filter(({ hours }) => hours.length > 0)
  const oldest = Math.min(...tokens.flatMap(({ hours }) => hours.map(({ slot }) => slot)))
  const newest = Math.max(...tokens.map(({ slot }) => slot))
  const found: Array<Before> = []
  const names = new Set(tokens.map(({ mint }) => mint))
  for await (const block of blocksOf(rpc, tokens.length === 0 ? [] : await slotsBetween(rpc, oldest + 1, newest))) {
    found.push(...foundBy(block, names))
  }
  const byMint = Map.groupBy(found.toReversed(), ({ mint }) => mint)
  for (const { hours, mint, slot, top, ...listed } of tokens) {
    const accounts = new Map(listed.accounts)
    const left = (byMint.get(mint) ?? []).filter((each) => each.slot <= slot)
    const ownerOf = (account: string) =>
      accounts.get(account)?.owner ?? left.find((each) => each.account === account)?.holding?.owner
    const excluded = notWallets(record, mint, ownerOf, top)
    let at = 0
    for (const hour of hours.toSorted((a, b) => b.slot - a.slot)) {
      for (let each = left[at]; each !== undefined && each.slot > hour.slot; each = left[++at]) {
        if (each.holding === null) {
          accounts.delete(each.account)
        } else {
          accounts.set(each.account, each.holding)
        }
      }
      compareHour(findings, mint, hour, ownersOf(accounts), excluded)
    }
  }
  return mints.length - tokens.length
}

/** Waits until a service has an hour of holders for each mint, for at most `mostMs`. It takes snapshots once a minute. */
export const awaitHours = async (
  service: Pick<Service, "holderHistory">,
  mints: ReadonlyArray<string>,
  mostMs: number
): Promise<void> => {
  for (let waited = 0; waited < mostMs; waited += SNAPSHOT_PAUSE_MS) {
    const hours = await Promise.all(mints.map((mint) => service.holderHistory(mint)))
    if (hours.every(({ length }) => length > 0)) {
      return
    }
    await new Promise((resolve) => setTimeout(resolve, SNAPSHOT_PAUSE_MS))
  }
}
