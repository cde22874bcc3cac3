import { QuorateError, suggest } from '../diagnostics/index.ts'

/** Makes the error of a send that was asked for in a wrong way. `field` is the option, or the column, that is wrong. */
export function usage(message: string, next: string, field?: string): QuorateError {
  return new QuorateError('cli/usage', message, {
    facts: { submitted: 'nothing' },
    next,
    ...(field !== undefined && { field }),
  })
}

/** Has an error of `make` that names no field say that it is about this one. */
export function inField<T>(field: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof QuorateError) || error.field !== undefined) throw error
    const { code, message, facts, next, exit } = error
    throw new QuorateError(code, message, { facts, exit, field, cause: error, ...(next !== undefined && { next }) })
  }
}

/** Where each kind of name is looked up. */
const PLACES = {
  wallet: 'the organization has',
  receiver: 'the address book has',
  asset: 'the definitions have',
  send: 'the ledger has',
  batch: 'the ledger has',
} as const

/** Makes the error of a name that stands for nothing. */
export function unknownName(what: keyof typeof PLACES, name: string, known: readonly string[]): QuorateError {
  const [near] = suggest(name, known)
  const isDefined = what === 'receiver' || what === 'asset'
  const next =
    near !== undefined
      ? `did you mean \`${near}\`?`
      : known.length === 0 && isDefined
        ? 'give the folder of definitions that names it: `quorate send FOLDER`, or --definitions FOLDER where you vote'
        : `name one that ${PLACES[what]}: ${known.join(', ') || 'there is none'}`
  return new QuorateError('cli/unknown-name', `there is no ${what} \`${name}\``, {
    facts: { submitted: 'nothing' },
    next,
  })
}
