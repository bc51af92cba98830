/** Links to tokens and wallets, and times. */
import type { ComponentChildren } from "preact"
import { ageWords, shortAddress, timeText } from "./words.ts"

/** A link to a token's page, by its symbol where there is one. */
export const TokenLink = ({ mint, symbol = null }: { readonly mint: string; readonly symbol?: string | null }) => (
  <a href={`/t/${mint}`} title={mint}>
    {symbol === null ? <span class="address">{shortAddress(mint)}</span> : <bdi title={symbol}>{symbol}</bdi>}
  </a>
)

/** A link to a wallet's page, by its label where there is one. */
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

/** A time of the contract: its age for the eye, the moment in the title; null is a dash. */
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
