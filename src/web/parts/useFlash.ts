import { useEffect, useRef } from "preact/hooks"

const FLASH_MS = 900

/**
 * Lights an element up when its decimal text changes: in the colour of a gain, of a loss, or of neither. The element
 * keeps its size. Nothing moves for users who asked for less motion; the direction is at the element either way.
 */
export const useFlash = (value: string | null) => {
  const element = useRef<HTMLDataElement>(null)
  const before = useRef(value)
  useEffect(() => {
    const [was, shown] = [before.current, element.current]
    before.current = value
    if (shown === null || was === null || value === null || was === value) {
      return
    }
    const direction = Number(value) < Number(was) ? "down" : "up"
    shown.dataset["flash"] = direction
    if (!globalThis.matchMedia("(prefers-reduced-motion: reduce)").matches) {
      const colour = getComputedStyle(shown).getPropertyValue(`--${direction}`).trim()
      shown.animate([{ backgroundColor: `${colour}55` }, { backgroundColor: "transparent" }], { duration: FLASH_MS })
    }
  }, [value])
  return element
}
