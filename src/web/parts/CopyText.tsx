import { useState } from "preact/hooks"

const SHOWN_MS = 2000

/** A button that copies a text. Screen readers announce whether it worked. */
export const CopyText = ({ text, what }: { readonly text: string; readonly what: string }) => {
  const [result, setResult] = useState<"" | "Copied" | "Not copied: select the text and copy it">("")
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setResult("Copied")
    } catch {
      setResult("Not copied: select the text and copy it")
    }
    setTimeout(() => setResult(""), SHOWN_MS)
  }
  return (
    <span class="copy">
      <button type="button" class="plain" onClick={() => void copy()} aria-label={`Copy ${what}`}>
        Copy
      </button>
      <span role="status">{result}</span>
    </span>
  )
}
