/** Tokens, wallets, pools and times as pages name them. */
import type { ComponentChildren } from "preact"
import { useSymbol } from "../data/tokenNames.ts"
import { ageWords, shortAddress, timeText } from "./words.ts"

/** A link to the page of a token, with its symbol. Where the caller has none, the service is asked for it. */
export const TokenLink = ({
  mint,
  symbol: given = null
}: {
  readonly mint: string
  readonly symbol?: string | null
}) => {
  const symbol = useSymbol(mint, given)
  return (
    <a href={`/t/${mint}`} title={mint}>
      {symbol === null || symbol.trim() === "" ? (
        <span class="address">{shortAddress(mint)}</span>
      ) : (
        <bdi title={symbol}>{symbol}</bdi>
      )}
    </a>
  )
}

/** A link to the page of a wallet, with its label where it has one. */
export const WalletLink = ({
  children = null,
  label = null,
  wallet
}: {
  readonly wallet: string
  readonly label?: string | null
  readonly children?: ComponentChildren
}) => (
  <a href={`/w/${wallet}`} title={wallet}>
    {children}
    {label === null ? <span class="address">{shortAddress(wallet)}</span> : <bdi title={label}>{label}</bdi>}
  </a>
)

/** How long ago a time was, with the moment in the title. Null is a dash. */
export const When = ({ atMs }: { readonly atMs: number | null }) =>
  atMs === null ? (
    <span>
      –<span class="hidden">, never</span>
    </span>
  ) : (
    <time dateTime={new Date(atMs).toISOString()} title={timeText(atMs)}>
      {ageWords(Date.now() - atMs)} ago
    </time>
  )

/** The time of day of an event, with the whole date and a note in the title. */
export const TimeOfDay = ({ atMs, note = "" }: { readonly atMs: number; readonly note?: string }) => (
  <time dateTime={new Date(atMs).toISOString()} title={`${timeText(atMs)}${note}`}>
    {new Date(atMs).toLocaleTimeString()}
  </time>
)

/** The venue of a pool, with the short address of the pool. */
export const PoolName = ({ dex, pool }: { readonly dex: string; readonly pool: string }) => (
  <span class="token">
    {dex}
    <span class="soft" title={pool}>
      {shortAddress(pool)}
    </span>
  </span>
)
