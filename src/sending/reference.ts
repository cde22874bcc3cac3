import { usage } from './usage.ts'

/** As long as a name may be that people read out to each other, and some. */
const MOST_CHARACTERS = 200

/** Characters that are invisible, or look like a space and are another character. */
const UNSEEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u

/**
 * Reads a reference. Two that look alike are one, or somebody is paid twice: letters are composed (Unicode NFC), spaces at the
 * ends are none of it, and what cannot be seen is refused. Throws `cli/usage`.
 */
export function parseReference(written: string): string {
  const reference = written.normalize('NFC').trim()
  const unseen = UNSEEN.exec(reference)?.[0]
  if (unseen !== undefined) {
    const code = unseen.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
    throw usage(
      `--ref \`${reference}\` has a character that nobody sees: U+${code}`,
      'write it without: references that look alike would be several payments',
    )
  }
  const { length } = [...reference]
  if (length > MOST_CHARACTERS) {
    throw usage(
      `--ref has ${length} characters, over ${MOST_CHARACTERS}: \`${reference.slice(0, 40)}…\``,
      'name the payment as it is called where it was decided, such as an invoice number',
    )
  }
  return reference
}
