import { TokenLink } from "../parts/Links.tsx"
import { shortAddress } from "../parts/words.ts"

/** A token as answers name it. Symbol and name are unverified text and may run in any direction. */
export interface TokenJson {
  readonly address: string
  readonly symbol: string | null
  readonly name: string | null
}

/** The symbol of a token, or a short form of its address when it has none. */
export const symbolOf = ({ address, symbol }: TokenJson): string =>
  symbol === null || symbol.trim() === "" ? shortAddress(address) : symbol

/** A link to the page of a token, followed by its name. */
export const TokenName = ({ token: { address, name, symbol } }: { readonly token: TokenJson }) => (
  <span class="token">
    <TokenLink mint={address} symbol={symbol} />
    {name !== null && (
      <bdi class="soft" title={name}>
        {name}
      </bdi>
    )}
  </span>
)
