import { Panel } from "../parts/Panel.tsx"
import { written } from "../parts/numbers.ts"
import { Empty } from "../parts/States.tsx"
import { heatOf, type Line } from "./ranking.ts"
import { type Tile, tilesOf } from "./tiles.ts"
import { symbolOf } from "./TokenName.tsx"
import { useLines } from "./useLines.ts"
import type { MarketState } from "./useMarketState.ts"
import { EVERY_MS, type Span } from "./windows.ts"

const MOST = 40
/** The least side of a tile in percent of the map: more than a finger needs on a phone. */
const LEAST_SIDE = 8
const ASPECT = 2.6
const no: ReadonlySet<string> = new Set()
const byVolume = { key: "volume", isDown: true }

/** Weight of a volume for the eye: its square root, so that small tokens stay readable. */
const weightOf = ({ volumeUsd }: Line): number => Math.sqrt(Number(volumeUsd?.value ?? 0))

/** The tiles of the largest tokens, as many as are large enough to be hit. */
const largeTiles = (lines: ReadonlyArray<Line>): ReadonlyArray<Tile> => {
  for (let count = lines.length; count > 0; count--) {
    const tiles = tilesOf(lines.slice(0, count).map(weightOf), ASPECT)
    if (count === 1 || tiles.every(({ height, width }) => Math.min(height, width) >= LEAST_SIDE)) {
      return tiles
    }
  }
  return []
}

const Tiles = ({ lines, span }: { readonly lines: ReadonlyArray<Line>; readonly span: Span }) => {
  const traded = lines.filter((line) => weightOf(line) > 0).slice(0, MOST)
  const places = largeTiles(traded)
  const shown = traded.slice(0, places.length)
  return shown.length === 0 ? (
    <Empty>No token was traded in this window.</Empty>
  ) : (
    <ul class="map plain-list">
      {shown.map(({ changes, token, volumeUsd }, at) => {
        const { height = 0, width = 0, x = 0, y = 0 } = places[at] ?? {}
        const change = changes[span]?.value ?? null
        const volume = volumeUsd?.value ?? null
        return (
          <li
            key={token.address}
            style={{ left: `${x}%`, top: `${y}%`, width: `${width}%`, height: `${height}%` }}
            class={`heat${heatOf(change)}`}
          >
            <a
              href={`/t/${token.address}`}
              title={volume === null ? token.address : `Volume ${written(volume, "usd", { short: true })}`}
            >
              <bdi>{symbolOf(token)}</bdi>
              <span>{change === null ? "–" : written(change, "percent", { short: true, signed: true })}</span>
            </a>
          </li>
        )
      })}
    </ul>
  )
}

/** The most traded tokens as tiles: the larger the more volume, the stronger the colour the larger the change. */
export const HeatMap = ({ state }: { readonly state: MarketState }) => {
  const { isLive, lines, read } = useLines({ ...state, sorting: byVolume, columns: no })
  return (
    <Panel title="Heat map" read={read} everyMs={EVERY_MS} isLive={isLive} rows={16}>
      {() => (
        <>
          <p class="note">Size by volume, colour by the change of the price in the window.</p>
          <Tiles lines={lines} span={state.span} />
        </>
      )}
    </Panel>
  )
}
