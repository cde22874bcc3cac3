import { decodeBase64, decodeUtf8, encodeBase64, encodeUtf8 } from '../../encoding/index.ts'
import type { SealedPlace, Sealing } from './sealing.ts'

/** What a sealed text begins with; no JSON does. */
const MARK = 'sealed:'

/** Seals a text for its place. */
export function sealText(seal: Sealing['seal'], text: string, place: SealedPlace): string {
  return `${MARK}${encodeBase64(seal(encodeUtf8(text), place))}`
}

/** Whether a stored text is sealed. */
export function isSealedText(text: string): boolean {
  return text.startsWith(MARK)
}

/** Gives the text, whether it was sealed or not. */
export function openText(unseal: Sealing['unseal'], text: string, place: SealedPlace): string {
  return isSealedText(text) ? decodeUtf8(unseal(decodeBase64(text.slice(MARK.length)), place)) : text
}
