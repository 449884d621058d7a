import type { Message } from './service.ts';

/** The files of a message: pictures as such, and links to all. */
export function Files({ files }: { files: Message['attachments'] }) {
  return (
    <>
      {files.map(({ id, data_url: url, thumb_url: picture, file_name: name }) => (
        <a key={id} class="file" href={url} target="_blank" rel="noopener noreferrer">
          {picture ? <img src={picture} alt={name} /> : name}
        </a>
      ))}
    </>
  );
}
