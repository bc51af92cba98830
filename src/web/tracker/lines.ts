/** Pasted lists of wallets. */

export interface PastedWallet {
  readonly wallet: string
  readonly label?: string
}

/**
 * Reads wallets from a pasted text: one per line or separated by commas, the rest of a line being its label. A repeated
 * wallet is dropped. Addresses are not checked.
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
