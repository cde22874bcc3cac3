import type { Wire } from '../../../protocol/index.ts'
import type { FeatureRow } from './features-store.ts'

/** Writes an organization feature as the API does. */
export function toWireFeature(row: FeatureRow): Wire.Feature {
  return { name: row.name as Wire.FeatureName, value: row.value }
}
