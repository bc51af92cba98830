/** Pasted lists of wallets. */

/** A wallet of a pasted list. */
export interface PastedWallet {
  readonly wallet: string
  readonly label?: string
}

/**
 * The wallets of a pasted text: one a line or between commas, each with the rest of its line as its label. A wallet that is
 * there again is left out. Addresses are not judged here.
 */
export const linesOf = (text: string): ReadonlyArray<PastedWallet> => {
  const found = new Map<string, PastedWallet>()
  for (const line of text.split(/[\n,;]+/u)) {
    const [wallet = "", ...words] = line.trim().split(/\s+/u)
    if (wallet !== "" && !found.has(wallet)) {
      found.set(wallet, words.length === 0 ? { wallet } : { wallet, label: words.join(" ") })
    }
  }
  return Array.from(found.values())
}
