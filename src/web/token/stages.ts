/** A route as stages: pools side by side take the parts of an amount, one stage after the other. */

interface Leg {
  readonly inputMint: string
  readonly outputMint: string
}

/** The mint that a stage takes and its pools. */
export interface Stage<Hop> {
  readonly inputMint: string
  readonly hops: ReadonlyArray<Hop>
}

/**
 * The stages of a route from `inputMint` on: first the pools that take it, then those that take what these pay, once
 * for each mint. Hops that no earlier one leads to come last, so that none is missing.
 */
export const stagesOf = <Hop extends Leg>(route: ReadonlyArray<Hop>, inputMint: string): ReadonlyArray<Stage<Hop>> => {
  const stages: Array<Stage<Hop>> = []
  const placed = new Set<Hop>()
  const mints = [inputMint]
  // Iterating an array also visits entries added meanwhile.
  for (const mint of mints) {
    const hops = route.filter((hop) => hop.inputMint === mint && !placed.has(hop))
    hops.forEach((hop) => {
      placed.add(hop)
      if (!mints.includes(hop.outputMint)) {
        mints.push(hop.outputMint)
      }
    })
    if (hops.length > 0) {
      stages.push({ inputMint: mint, hops })
    }
  }
  const rest = route.filter((hop) => !placed.has(hop))
  return rest.length === 0 ? stages : [...stages, { inputMint: rest[0]?.inputMint ?? inputMint, hops: rest }]
}
