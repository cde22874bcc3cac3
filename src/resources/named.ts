import type { ScopedName } from '../look-alikes/index.ts'
import { parentOf } from './address.ts'
import { kinds } from './catalogue.ts'
import type { Resource } from './model.ts'

/** Resources whose names people choose, in the scope in which people tell them apart: of one kind, and of one holder. */
export function scopedNames<Of extends Pick<Resource, 'address' | 'kind' | 'name'> & Partial<Pick<Resource, 'fields'>>>(
  resources: Iterable<Of>,
): readonly ScopedName<Of>[] {
  return [...resources].flatMap((of) => {
    const { shape, nameOf, labelledBy } = kinds[of.kind].form
    const label = labelledBy === undefined ? undefined : of.fields?.[labelledBy]
    const isChosen = (shape === 'map' || shape === 'folder') && !nameOf
    const name = isChosen ? of.name : label
    return typeof name === 'string' && name !== ''
      ? [{ scope: `${of.kind} ${parentOf(of.address) ?? ''}`, name, of }]
      : []
  })
}
