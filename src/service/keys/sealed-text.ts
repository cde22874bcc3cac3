import { decodeBase64, decodeUtf8, encodeBase64, encodeUtf8 } from '../../encoding/index.ts'
import type { SealedPlace, Sealing } from './sealing.ts'

/** What a sealed text begins with; no JSON does. */
export const SEALED_TEXT_MARK = 'sealed:'

/** Seals a text for its place. */
export function sealText(seal: Sealing['seal'], text: string, place: SealedPlace): string {
  return `${SEALED_TEXT_MARK}${encodeBase64(seal(encodeUtf8(text), place))}`
}

/** Whether a stored text is sealed. */
export function isSealedText(text: string): boolean {
  return text.startsWith(SEALED_TEXT_MARK)
}

/** Gives the text, whether it was sealed or not. */
export function openText(unseal: Sealing['unseal'], text: string, place: SealedPlace): string {
  return isSealedText(text) ? decodeUtf8(unseal(decodeBase64(text.slice(SEALED_TEXT_MARK.length)), place)) : text
}
