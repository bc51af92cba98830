/** Geometry of a map of tiles. */

/** A tile in percent of the map. */
export interface Tile {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** The largest ratio of the sides of tiles in a strip across the shorter side of a box. */
const worstRatio = (weights: ReadonlyArray<number>, side: number, perWeight: number): number => {
  const sum = weights.reduce((total, each) => total + each, 0) * perWeight
  const depth = sum / side
  return Math.max(
    ...weights.map((weight) => Math.max((weight * perWeight) / depth ** 2, depth ** 2 / (weight * perWeight)))
  )
}

/** Puts a strip of tiles at the beginning of a box, and takes its place away from the box. */
const strip = (weights: ReadonlyArray<number>, box: Box, perWeight: number): ReadonlyArray<Tile> => {
  const isWide = box.width >= box.height
  const side = isWide ? box.height : box.width
  const depth = (weights.reduce((total, each) => total + each, 0) * perWeight) / side
  let along = 0
  const tiles = weights.map((weight) => {
    const length = (weight * perWeight) / depth
    const tile = isWide
      ? { x: box.x, y: box.y + along, width: depth, height: length }
      : { x: box.x + along, y: box.y, width: length, height: depth }
    along += length
    return tile
  })
  if (isWide) {
    box.x += depth
    box.width -= depth
  } else {
    box.y += depth
    box.height -= depth
  }
  return tiles
}

/**
 * Tiles with areas in proportion to weights above zero, largest first, as square as a strip after another makes them.
 * `aspect` is the width of the map divided by its height. Weights are only drawn, so that they are floats.
 */
export const tilesOf = (weights: ReadonlyArray<number>, aspect: number): ReadonlyArray<Tile> => {
  const total = weights.reduce((sum, each) => sum + each, 0)
  const box: Box = { x: 0, y: 0, width: aspect, height: 1 }
  const perWeight = aspect / total
  const tiles: Array<Tile> = []
  let from = 0
  while (from < weights.length) {
    const side = Math.min(box.width, box.height)
    let to = from + 1
    while (
      to < weights.length &&
      worstRatio(weights.slice(from, to + 1), side, perWeight) <= worstRatio(weights.slice(from, to), side, perWeight)
    ) {
      to += 1
    }
    tiles.push(...strip(weights.slice(from, to), box, perWeight))
    from = to
  }
  const percent = 100
  return tiles.map(({ height, width, x, y }) => ({
    x: (percent * x) / aspect,
    y: percent * y,
    width: (percent * width) / aspect,
    height: percent * height
  }))
}
