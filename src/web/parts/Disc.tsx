const HUES = 8

/** One of the hues, always the same for the same text. */
const hueOf = (text: string): number =>
  Array.from(text).reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 997, 7) % HUES

/** A disc with the first letters of a token, in place of its picture: pages load nothing from other hosts. */
export const Disc = ({ mint, symbol }: { readonly mint: string; readonly symbol: string }) => (
  <span class={`disc hue-${hueOf(mint)}`} aria-hidden="true">
    {Array.from(symbol).slice(0, 2).join("").toUpperCase()}
  </span>
)
