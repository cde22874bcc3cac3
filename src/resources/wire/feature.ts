import { formatAddress } from '../address.ts'
import { shortFeatureName } from '../feature.ts'
import type { Resource } from '../model.ts'
import { takeOptionalText, takeText, type WireRecord } from './record.ts'

/** A feature out of the organization's configuration, under its short name. */
export function fromWire(record: WireRecord): Resource {
  const name = shortFeatureName(takeText(record, 'name', 'feature'))
  return {
    address: formatAddress('feature', name),
    kind: 'feature',
    name,
    id: name,
    fields: { value: takeOptionalText(record, 'value', 'feature') ?? '' },
  }
}
