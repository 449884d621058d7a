import type { Config } from '../../config.ts';
import type { OutboundGate } from '../../lib/outbound-gate.ts';
import type { Clock } from '../../lib/ports.ts';
import { ObjectStore } from '../../objects/object-store.ts';

/** The object store that the settings name; null without one. */
export function objectStoreOf(
  config: Config,
  { clock, gate }: { clock: Clock; gate: OutboundGate },
): ObjectStore | null {
  const { attachmentS3Endpoint: endpoint, attachmentS3Bucket: bucket } = config;
  const { attachmentS3AccessKeyId: accessKeyId, attachmentS3SecretAccessKey: secretAccessKey } = config;
  // The configuration has all of them, or none.
  if (!endpoint || !bucket || !accessKeyId || !secretAccessKey) return null;
  const { attachmentS3Region: region, attachmentS3TimeoutMs: timeoutMs } = config;
  return new ObjectStore({ endpoint, bucket, region, accessKeyId, secretAccessKey, timeoutMs, clock, gate });
}
