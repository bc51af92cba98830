/** The transfers of SOL that opened wallets, and the comparison of `/funded-by` and `/related` with them. */
import bs58 from "bs58"
import type { RawInstruction } from "./chain.ts"
import type { WalletDifference } from "./compareWallets.ts"
import type { ReadTransaction } from "./legs.ts"
import { u64 } from "./transfers.ts"

/** A transfer of SOL to an account that had none. */
export interface RawOpening {
  readonly signature: string
  readonly slot: number
  readonly second: number
  readonly wallet: string
  readonly funder: string
  readonly lamports: bigint
}

const SYSTEM = "11111111111111111111111111111111"
const [CREATE, TRANSFER, CREATE_WITH_SEED, TRANSFER_WITH_SEED] = [0, 2, 3, 11]
/** The length of the seed, in the data of a creation with a seed. */
const SEED_LENGTH = 36

/** What an instruction of the system program pays; null for any other. */
const paymentOf = ({ accounts, data, programIdIndex }: RawInstruction, keys: ReadonlyArray<string>) => {
  if (keys[programIdIndex] !== SYSTEM) {
    return null
  }
  const bytes = bs58.decode(data)
  const key = (at: number) => keys[accounts[at] ?? -1] ?? ""
  switch (bytes[0]) {
    case CREATE:
      return { from: key(0), to: key(1), lamports: u64(bytes, 4), creates: true }
    case CREATE_WITH_SEED:
      return {
        from: key(0),
        to: key(1),
        lamports: u64(bytes, SEED_LENGTH + 8 + Number(u64(bytes, SEED_LENGTH))),
        creates: true
      }
    case TRANSFER:
      return { from: key(0), to: key(1), lamports: u64(bytes, 4), creates: false }
    case TRANSFER_WITH_SEED:
      return { from: key(0), to: key(2), lamports: u64(bytes, 4), creates: false }
    default:
      return null
  }
}

/** The wallets that a successful transaction opened: the first payment to each account that had nothing before. */
export const openingsOf = (
  { holders, invocations, keys, raw: { meta, transaction } }: ReadTransaction,
  at: Pick<RawOpening, "second" | "slot">
): ReadonlyArray<RawOpening> => {
  const isNew = (key: string) => {
    const index = keys.indexOf(key)
    return meta.preBalances[index] === 0 && (meta.postBalances[index] ?? 0) > 0 && !holders.has(key)
  }
  const payments = invocations.flatMap(({ instruction }) => paymentOf(instruction, keys) ?? [])
  const first = new Map(
    payments
      .filter(({ lamports, to }) => lamports > 0n && isNew(to))
      .toReversed()
      .map((payment) => [payment.to, payment])
  )
  const [signature = ""] = transaction.signatures
  return payments
    .filter((payment) => first.get(payment.to) === payment && !payment.creates && payment.from !== payment.to)
    .map(({ from, lamports, to }) => ({ ...at, signature, wallet: to, funder: from, lamports }))
}

/** The opening of each wallet, in the order of the chain. A wallet that was emptied keeps its first one. */
export const firstOpenings = (openings: ReadonlyArray<RawOpening>): ReadonlyMap<string, RawOpening> => {
  const first = new Map<string, RawOpening>()
  for (const opening of openings) {
    if (!first.has(opening.wallet)) {
      first.set(opening.wallet, opening)
    }
  }
  return first
}

/** A transfer that opened a wallet, as the service writes it. */
export interface ServiceOpening {
  readonly funder: string
  readonly lamports: string
  readonly signature: string
  readonly slot: number
  readonly timeMs: number
}

/** All rows of `/wallets/{wallet}/related`, and what its answer says of the funder. */
export interface ServiceRelated {
  readonly rows: ReadonlyArray<{ readonly wallet: string; readonly evidence: ServiceOpening }>
  readonly funding: ServiceOpening | null
  readonly funder: { readonly wallet: string; readonly opened: number; readonly hasMore: boolean } | null
}

/** The most wallets that the service counts for one funder. It lists none of the wallets of a funder with more. */
const MOST_COUNTED = 1000

const serviceText = (opening: ServiceOpening | null): string | null =>
  opening &&
  [opening.signature, opening.slot, opening.timeMs / 1000, opening.funder, opening.lamports].map(String).join(" ")

const recomputedText = (opening: RawOpening | undefined): string | null =>
  opening === undefined
    ? null
    : [opening.signature, opening.slot, opening.second, opening.funder, opening.lamports].map(String).join(" ")

/** Compares the opening of a wallet, and the wallets that `funder` opened, the newest first. */
export const compareRelated = (
  wallet: string,
  relation: string,
  first: ReadonlyMap<string, RawOpening>,
  { funder, funding, rows }: ServiceRelated
): { readonly figures: number; readonly differences: ReadonlyArray<WalletDifference> } => {
  const sender = relation === "funded" ? wallet : first.get(wallet)?.funder
  const opened = Array.from(first.values()).filter((each) => each.funder === sender)
  const isHub = opened.length > MOST_COUNTED
  const wanted = isHub ? [] : opened.filter((each) => each.wallet !== wallet).toReversed()
  const texts = {
    service: rows.map((row) => `${row.wallet} ${serviceText(row.evidence)}`),
    recomputed: wanted.map((each) => `${each.wallet} ${recomputedText(each)}`)
  }
  const counted = sender === undefined ? null : `${sender} ${Math.min(opened.length, MOST_COUNTED)} ${isHub}`
  const figures: ReadonlyArray<readonly [string, string | null, string | null]> = [
    ["funding", serviceText(funding), recomputedText(first.get(wallet))],
    ["funder", funder && `${funder.wallet} ${funder.opened} ${funder.hasMore}`, counted],
    ...Array.from(
      { length: Math.max(texts.service.length, texts.recomputed.length) },
      (_, place) => [`place ${place + 1}`, texts.service[place] ?? null, texts.recomputed[place] ?? null] as const
    )
  ]
  return {
    figures: figures.length,
    differences: figures
      .filter(([, service, recomputed]) => service !== recomputed)
      .map(([field, service, recomputed]) => ({
        wallet,
        mint: null,
        field: `${relation} ${field}`,
        service,
        recomputed
      }))
  }
}

/** Compares the transfer that opened a wallet with `opening` of `/wallets/{wallet}/funded-by`. */
export const compareOpening = (
  wallet: string,
  first: ReadonlyMap<string, RawOpening>,
  opening: ServiceOpening | null
): { readonly figures: number; readonly differences: ReadonlyArray<WalletDifference> } => {
  const [service, recomputed] = [serviceText(opening), recomputedText(first.get(wallet))]
  const difference = { wallet, mint: null, field: "opening", service, recomputed }
  return { figures: 1, differences: service === recomputed ? [] : [difference] }
}
