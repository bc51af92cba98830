import { useWatchlists } from "../data/watched.ts"

/** A button that puts a token on a watchlist, or takes it off all of them. */
export const Star = ({
  list,
  mint,
  symbol
}: {
  readonly mint: string
  readonly symbol: string
  /** Name of the list; the first one by default. */
  readonly list?: string
}) => {
  const { isWatched, setWatched } = useWatchlists()
  const isOn = isWatched(mint)
  return (
    <button
      type="button"
      class="star"
      aria-pressed={isOn}
      aria-label={`Watch ${symbol}`}
      title={isOn ? "On a watchlist" : "Put on a watchlist"}
      onClick={() => setWatched({ mint, symbol }, !isOn, list)}
    >
      <span aria-hidden="true">{isOn ? "★" : "☆"}</span>
    </button>
  )
}
