import { Disc } from "../parts/Disc.tsx"
import { TokenLink } from "../parts/Links.tsx"
import { Star } from "../parts/Star.tsx"
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

/** A token in a list: star, disc, and a link to its page followed by its name. */
export const TokenName = ({ list, token }: { readonly token: TokenJson; readonly list?: string }) => {
  const symbol = symbolOf(token)
  return (
    <span class="token-cell">
      <Star mint={token.address} symbol={symbol} {...(list === undefined ? {} : { list })} />
      <Disc mint={token.address} symbol={symbol} />
      <span class="token">
        <TokenLink mint={token.address} symbol={token.symbol} />
        {token.name !== null && (
          <bdi class="soft" title={token.name}>
            {token.name}
          </bdi>
        )}
      </span>
    </span>
  )
}
