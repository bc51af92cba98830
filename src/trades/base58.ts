/** Base58 of instruction data: many digits at a time, so that a long event costs microseconds and not a tenth of a millisecond. */

const DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
const NO_DIGIT = 255
/** 58^9 is the largest power that a double holds exactly. */
const CHUNK = 9
/** No swap or event is nearly this long, and the rest is not worth the work. */
const MOST_DIGITS = 2_000

const digitValues = new Uint8Array(128).fill(NO_DIGIT)
for (let i = 0; i < DIGITS.length; i++) {
  digitValues[DIGITS.charCodeAt(i)] = i
}

/** 58 to the 9th, to the 18th, to the 36th, and so on: what the more significant half of 2, 4, 8 chunks counts. */
const powers: Array<bigint> = [58n ** BigInt(CHUNK)]
while (CHUNK * 2 ** powers.length < MOST_DIGITS) {
  const last = powers.at(-1) ?? 1n
  powers.push(last * last)
}

const zerosBefore = (text: string): number => {
  let zeros = 0
  while (text.charCodeAt(zeros) === 49) {
    zeros += 1
  }
  return zeros
}

/** What the digits between two places count; -1 when one of them is none. */
const chunkValue = (text: string, from: number, to: number): number => {
  let value = 0
  for (let at = from; at < to; at++) {
    const digit = digitValues[text.charCodeAt(at)] ?? NO_DIGIT
    if (digit === NO_DIGIT) {
      return -1
    }
    value = value * 58 + digit
  }
  return value
}

/** The number's chunks of nine digits, least significant first; null when something is no digit. */
const chunksOf = (text: string, zeros: number): Array<bigint> | null => {
  const chunks: Array<bigint> = []
  for (let end = text.length; end > zeros; end -= CHUNK) {
    const value = chunkValue(text, Math.max(zeros, end - CHUNK), end)
    if (value < 0) {
      return null
    }
    chunks.push(BigInt(value))
  }
  return chunks
}

/** Halves the count of chunks until one is left, so that long numbers are multiplied few times. */
const joined = (chunks: Array<bigint>): bigint => {
  let count = chunks.length
  for (let level = 0; count > 1; level++) {
    const power = powers[level] ?? 0n
    let next = 0
    for (let i = 0; i < count; i += 2) {
      const low = chunks[i] ?? 0n
      chunks[next] = i + 1 < count ? (chunks[i + 1] ?? 0n) * power + low : low
      next += 1
    }
    count = next
  }
  return chunks[0] ?? 0n
}

/** The bytes that the text spells; null when it is not base58, or longer than any swap or event could be. */
export const bytesFromBase58 = (text: string): Uint8Array | null => {
  const zeros = zerosBefore(text)
  const chunks = text.length > MOST_DIGITS ? null : chunksOf(text, zeros)
  if (chunks === null) {
    return null
  }
  const hex = chunks.length === 0 ? "" : joined(chunks).toString(16)
  const even = hex.length % 2 === 0 ? hex : `0${hex}`
  return Buffer.from("00".repeat(zeros) + even, "hex")
}
