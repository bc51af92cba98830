/** A seeded random generator. Doubles only decide what traders want, never settled amounts. */
export interface Random {
  /** An integer in [0, 2^32). */
  readonly next: () => number
  /** A double in [0, 1). */
  readonly unit: () => number
  /** A double in [low, high). */
  readonly between: (low: number, high: number) => number
  /** An integer in [0, bound). */
  readonly below: (bound: number) => number
  /** True with this probability. */
  readonly chance: (probability: number) => boolean
  /** One of the items, all equally likely. Throws a RangeError when the list is empty. */
  readonly pick: <A>(items: ReadonlyArray<A>) => A
}

// 32-bit FNV-1a spreads a short seed text over the generator's state.
const hash = (text: string): number => {
  let state = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    state = Math.imul(state ^ text.charCodeAt(i), 0x01000193)
  }
  return state >>> 0
}

/** A generator from a seed text: Bob Jenkins' small fast counter (sfc32). Its first 16 values are discarded. */
export const makeRandom = (seed: string): Random => {
  let a = hash(`${seed}a`)
  let b = hash(`${seed}b`)
  let c = hash(`${seed}c`)
  let counter = 1
  const next = (): number => {
    const sum = (a + b + counter++) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum >>> 0
  }
  for (let i = 0; i < 16; i++) {
    next()
  }
  const unit = () => next() / 2 ** 32
  const below = (bound: number) => Math.floor(unit() * bound)
  const pick = <A>(items: ReadonlyArray<A>): A => {
    const item = items[below(items.length)]
    if (item === undefined) {
      throw new RangeError("nothing to pick from")
    }
    return item
  }
  return {
    next,
    unit,
    between: (low, high) => low + unit() * (high - low),
    below,
    chance: (probability) => unit() < probability,
    pick
  }
}
