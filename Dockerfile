# syntax=docker/dockerfile:1

FROM node:24-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Optional is what only a machine without Node 24 or PostgreSQL needs.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json ./
COPY schemas schemas
COPY plugins plugins
COPY bots bots
COPY src src
COPY templates templates
COPY web web
COPY bin bin
RUN mkdir prepared web/dist && chown node:node prepared web/dist
USER node
# Pages, plugins and compiled code are made here, where the folders can be written, by the user whose starts find them.
RUN node bin/switchboard.js prepare
EXPOSE 3000
ENTRYPOINT ["node", "--disable-sigusr1", "bin/switchboard.js"]
CMD ["start"]
