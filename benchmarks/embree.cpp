// Native Embree 3 with capped cylinders as user geometry or as its own cones, cast singly, in packets or as streams:
// what `embree.py` measures this library beside. One thread; origins and unit directions are float32 triples.
#include <embree3/rtcore.h>
#include <pmmintrin.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

namespace {

const float INFINITE = std::numeric_limits<float>::infinity();

struct Cylinder {
  float centre[3], axis[3], half, radius;
};

// The distance at which a ray enters a cylinder, infinite if it misses: slab and wall about the closest approach.
inline float entry(const float* o, const float* d, int stride, const Cylinder& c) {
  float x[3], u[3], q[3], p[3], shift = 0, height = 0, rate = 0, a = 0, b = 0, gap = 0;
  for (int k = 0; k < 3; k++) x[k] = o[k * stride] - c.centre[k], u[k] = d[k * stride], shift -= x[k] * u[k];
  for (int k = 0; k < 3; k++) x[k] += shift * u[k], height += x[k] * c.axis[k], rate += u[k] * c.axis[k];
  for (int k = 0; k < 3; k++) q[k] = x[k] - height * c.axis[k], p[k] = u[k] - rate * c.axis[k];
  for (int k = 0; k < 3; k++) a += p[k] * p[k], b -= q[k] * p[k];
  float per_a = 1.0f / std::max(a, 1e-20f), middle = b * per_a;
  for (int k = 0; k < 3; k++) gap += (q[k] + middle * p[k]) * (q[k] + middle * p[k]);
  float room = c.radius * c.radius - gap, wall = std::sqrt(std::max(room, 0.0f) * per_a);
  float per_rate = 1.0f / std::copysign(std::max(std::fabs(rate), 1e-20f), rate);
  float slab = c.half * std::fabs(per_rate), crossing = -height * per_rate;
  float first = std::max(middle - wall, crossing - slab), last = std::min(middle + wall, crossing + slab);
  return (room >= 0) & (first <= last) & (shift + first >= 0) ? shift + first : INFINITE;
}

// Rows of Embree's rays of N lanes, each N numbers long: origin 0 to 2, direction 4 to 6, tfar 8, primID 17, geomID 18.
template <int N>
void intersect(const RTCIntersectFunctionNArguments* given, const Cylinder& cylinder) {
  float* rays = reinterpret_cast<float*>(given->rayhit);
  unsigned* ids = reinterpret_cast<unsigned*>(rays);
  const int* valid = given->valid;
  const unsigned primitive = given->primID, geometry = given->geomID;
  const Cylinder c = cylinder;
#pragma omp simd
  for (int i = 0; i < N; i++) {
    const float t = entry(rays + i, rays + 4 * N + i, N, c), reach = rays[8 * N + i];
    const unsigned primitive_before = ids[17 * N + i], geometry_before = ids[18 * N + i];
    const bool hit = (valid[i] != 0) & (t <= reach);
    rays[8 * N + i] = hit ? t : reach;
    ids[17 * N + i] = hit ? primitive : primitive_before;
    ids[18 * N + i] = hit ? geometry : geometry_before;
  }
}

void intersect_any(const RTCIntersectFunctionNArguments* given) {
  const Cylinder& cylinder = static_cast<const Cylinder*>(given->geometryUserPtr)[given->primID];
  switch (given->N) {
    case 1: return intersect<1>(given, cylinder);
    case 4: return intersect<4>(given, cylinder);
    case 8: return intersect<8>(given, cylinder);
    case 16: return intersect<16>(given, cylinder);
    default: std::fprintf(stderr, "a packet of %u rays\n", given->N);
  }
}

void bounds_of(const RTCBoundsFunctionArguments* given) {
  const Cylinder& c = static_cast<const Cylinder*>(given->geometryUserPtr)[given->primID];
  float *low = &given->bounds_o->lower_x, *high = &given->bounds_o->upper_x;
  for (int k = 0; k < 3; k++) {
    float across = c.radius * std::sqrt(std::max(0.0f, 1 - c.axis[k] * c.axis[k]));
    float extent = (std::fabs(c.axis[k]) * c.half + across) * 1.000001f + 1e-6f * std::fabs(c.centre[k]);
    low[k] = c.centre[k] - extent, high[k] = c.centre[k] + extent;
  }
}

// Signed distance of a point from a cylinder, negative inside.
inline float distance_to(const float* p, const Cylinder& c) {
  float height = 0, square = 0;
  for (int k = 0; k < 3; k++) height += (p[k] - c.centre[k]) * c.axis[k];
  for (int k = 0; k < 3; k++) {
    const float across = p[k] - c.centre[k] - height * c.axis[k];
    square += across * across;
  }
  const float x = std::fabs(height) - c.half, y = std::sqrt(square) - c.radius;
  const float out_x = std::max(x, 0.0f), out_y = std::max(y, 0.0f);
  return std::sqrt(out_x * out_x + out_y * out_y) + std::min(std::max(x, y), 0.0f);
}

struct Nearest {
  const Cylinder* cylinders;
  float distance;
  int id;
};

bool nearer(RTCPointQueryFunctionArguments* given) {
  Nearest& found = *static_cast<Nearest*>(given->userPtr);
  const float distance = distance_to(&given->query->x, found.cylinders[given->primID]);
  if (distance >= found.distance) return false;
  found.distance = distance, found.id = static_cast<int>(given->primID);
  given->query->radius = std::max(distance, 0.0f);
  return true;
}

struct Scene {
  RTCDevice device;
  RTCScene scene;
  std::vector<Cylinder> cylinders;
};

template <class RayHit>
void start(RayHit& hit, const float* o, const float* d, float reach) {
  hit.ray = {o[0], o[1], o[2], 0, d[0], d[1], d[2], 0, reach, ~0u, 0, 0};
  hit.hit.geomID = hit.hit.primID = hit.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
}

template <class RayHit, int N, void (*CAST)(const int*, RTCScene, RTCIntersectContext*, RayHit*)>
void cast_packets(RTCScene scene, RTCIntersectContext* context, long n, const float* o, const float* d, float reach,
                  float* t, int* id) {
  for (long first = 0; first < n; first += N) {
    alignas(64) RayHit packet;
    alignas(64) int valid[N];
    for (int k = 0; k < N; k++) {
      long i = 3 * std::min(first + k, n - 1);
      valid[k] = first + k < n ? -1 : 0;
      packet.ray.org_x[k] = o[i], packet.ray.org_y[k] = o[i + 1], packet.ray.org_z[k] = o[i + 2];
      packet.ray.dir_x[k] = d[i], packet.ray.dir_y[k] = d[i + 1], packet.ray.dir_z[k] = d[i + 2];
      packet.ray.tnear[k] = packet.ray.time[k] = 0, packet.ray.tfar[k] = reach, packet.ray.mask[k] = ~0u;
      packet.ray.id[k] = packet.ray.flags[k] = 0;
      packet.hit.geomID[k] = packet.hit.primID[k] = packet.hit.instID[0][k] = RTC_INVALID_GEOMETRY_ID;
    }
    CAST(valid, scene, context, &packet);
    for (int k = 0; k < N && first + k < n; k++) {
      id[first + k] = static_cast<int>(packet.hit.primID[k]);
      t[first + k] = id[first + k] < 0 ? INFINITE : packet.ray.tfar[k];
    }
  }
}

}  // namespace

extern "C" {

// `ends` holds x, y, z and radius of both ends of each cylinder; `isa` is "avx2" or "avx512".
Scene* make_scene(const char* isa, int cones, long n, const float* ends) {
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON), _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
  char options[64];
  std::snprintf(options, sizeof options, "threads=1,isa=%s", isa);
  Scene* made = new Scene{rtcNewDevice(options), nullptr, std::vector<Cylinder>(n)};
  made->scene = rtcNewScene(made->device);
  RTCGeometry geometry =
      rtcNewGeometry(made->device, cones ? RTC_GEOMETRY_TYPE_CONE_LINEAR_CURVE : RTC_GEOMETRY_TYPE_USER);
  if (cones) {
    auto buffer = [&](RTCBufferType type, RTCFormat format, size_t size, size_t count) {
      return rtcSetNewGeometryBuffer(geometry, type, 0, format, size, count);
    };
    std::copy_n(ends, 8 * n, static_cast<float*>(buffer(RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT4, 16, 2 * n)));
    auto* index = static_cast<unsigned*>(buffer(RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT, 4, n));
    auto* flags = static_cast<unsigned char*>(buffer(RTC_BUFFER_TYPE_FLAGS, RTC_FORMAT_UCHAR, 1, n));
    for (long i = 0; i < n; i++) index[i] = 2 * i, flags[i] = 0;  // 0: caps at both ends
  } else {
    for (long i = 0; i < n; i++) {
      const float *a = ends + 8 * i, *b = a + 4;
      double way[3], length = 0;
      for (int k = 0; k < 3; k++) way[k] = static_cast<double>(b[k]) - a[k], length += way[k] * way[k];
      Cylinder& c = made->cylinders[i];
      c.half = 0.5 * std::sqrt(length), c.radius = a[3];
      for (int k = 0; k < 3; k++) c.centre[k] = 0.5 * (a[k] + b[k]), c.axis[k] = way[k] / std::sqrt(length);
    }
    rtcSetGeometryUserPrimitiveCount(geometry, n);
    rtcSetGeometryUserData(geometry, made->cylinders.data());
    rtcSetGeometryBoundsFunction(geometry, bounds_of, nullptr);
    rtcSetGeometryIntersectFunction(geometry, intersect_any);
  }
  rtcCommitGeometry(geometry);
  rtcAttachGeometry(made->scene, geometry);
  rtcReleaseGeometry(geometry);
  rtcCommitScene(made->scene);
  return made;
}

// `width` rays at a time: 1, packets of 8 or 16, or 0 for streams of 1,024. `coherent` is Embree's hint.
void cast(Scene* made, int width, int coherent, long n, const float* o, const float* d, float reach, float* t, int* id) {
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  context.flags = coherent ? RTC_INTERSECT_CONTEXT_FLAG_COHERENT : RTC_INTERSECT_CONTEXT_FLAG_INCOHERENT;
  if (width == 8) return cast_packets<RTCRayHit8, 8, rtcIntersect8>(made->scene, &context, n, o, d, reach, t, id);
  if (width == 16) return cast_packets<RTCRayHit16, 16, rtcIntersect16>(made->scene, &context, n, o, d, reach, t, id);
  static std::vector<RTCRayHit> rays(1024);
  const long size = width == 1 ? 1 : 1024;
  for (long first = 0; first < n; first += size) {
    long count = std::min(size, n - first);
    for (long k = 0; k < count; k++) start(rays[k], o + 3 * (first + k), d + 3 * (first + k), reach);
    if (width == 1) rtcIntersect1(made->scene, &context, rays.data());
    else rtcIntersect1M(made->scene, &context, rays.data(), count, sizeof(RTCRayHit));
    for (long k = 0; k < count; k++) {
      id[first + k] = static_cast<int>(rays[k].hit.primID);
      t[first + k] = id[first + k] < 0 ? INFINITE : rays[k].ray.tfar;
    }
  }
}

// The nearest cylinder of each point within a reach, by `rtcPointQuery`, its distance negative inside.
void nearest(Scene* made, long n, const float* p, float reach, float* distance, int* id) {
  RTCPointQueryContext context;
  rtcInitPointQueryContext(&context);
  for (long i = 0; i < n; i++) {
    RTCPointQuery query = {p[3 * i], p[3 * i + 1], p[3 * i + 2], 0, reach};
    Nearest found = {made->cylinders.data(), reach, -1};
    rtcPointQuery(made->scene, &query, &context, nearer, &found);
    distance[i] = found.distance, id[i] = found.id;
  }
}

void free_scene(Scene* made) {
  rtcReleaseScene(made->scene), rtcReleaseDevice(made->device);
  delete made;
}
}
